/** Battlecube in space, by three.js. Nothing is drawn while nothing moves. */
import {
  BoxGeometry, BufferAttribute, BufferGeometry, CanvasTexture, Color, DirectionalLight, DynamicDrawUsage, EdgesGeometry, HemisphereLight,
  IcosahedronGeometry, InstancedMesh, LineBasicMaterial, LineSegments, Matrix4, MeshLambertMaterial, PerspectiveCamera, Plane, Quaternion,
  Raycaster, Scene, SphereGeometry, Sprite, SpriteMaterial, SRGBColorSpace, Vector2, Vector3, WebGLRenderer, type Material, type Object3D,
} from 'three';
import { OrbitControls } from 'three/examples/jsm/controls/OrbitControls.js';
import { cellsOf, type Cell, type CubeView } from './battlecube_view';
import { signOf, type Cross, type Seat } from './renderer';

export interface Slice {
  axis: 0 | 1 | 2;
  layer: number;
}

const UPRIGHT = new Quaternion();
const OFF_SLICE = 0.3;
const MOST_PLAYERS = 64;
const SIGN = 0.62;
/** In a cube with more cells along its edge, things are drawn larger than their cells so that they are seen. */
const PLAIN_EDGE = 20;

interface Mover {
  seat: number;
  from: Vector3;
  to: Vector3;
}

export class CubeScene {
  readonly #renderer: WebGLRenderer;
  readonly #scene = new Scene();
  readonly #camera = new PerspectiveCamera(40, 1, 0.1, 10000);
  readonly #controls: OrbitControls;
  readonly #balls: InstancedMesh;
  readonly #stalks: LineSegments;
  readonly #signs = new Map<number, Sprite>();
  readonly #crosses: Sprite[] = [];
  #bombs = bombMesh(256);
  #cage: Object3D | null = null;
  /** The layer at which a bomb is aimed, and the cell. */
  #layer: Object3D | null = null;
  #edge = 0;
  #slice: Slice | null = null;
  #movers: Mover[] = [];
  #view: CubeView | null = null;
  #began = 0;
  #lasts = 0;
  #asked = 0;

  constructor(canvas: HTMLCanvasElement) {
    this.#renderer = new WebGLRenderer({ canvas, antialias: true, alpha: true });
    this.#renderer.outputColorSpace = SRGBColorSpace;
    this.#renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
    this.#controls = new OrbitControls(this.#camera, canvas);
    this.#controls.enablePan = false;
    this.#controls.addEventListener('change', () => this.#ask());
    this.#balls = new InstancedMesh(new SphereGeometry(0.4, 20, 14), new MeshLambertMaterial(), MOST_PLAYERS);
    this.#balls.instanceMatrix.setUsage(DynamicDrawUsage);
    this.#balls.frustumCulled = false;
    this.#stalks = new LineSegments(new BufferGeometry(), new LineBasicMaterial({ transparent: true, opacity: 0.35 }));
    this.#stalks.geometry.setAttribute('position', new BufferAttribute(new Float32Array(MOST_PLAYERS * 6), 3));
    this.#stalks.frustumCulled = false;
    const sun = new DirectionalLight('#ffffff', 2);
    sun.position.set(2, 5, 4);
    this.#scene.add(new HemisphereLight('#ffffff', '#777788', 1.6), sun, this.#balls, this.#stalks, this.#bombs);
  }

  /** `duration`: milliseconds in which what moved gets there. */
  show(view: CubeView, before: CubeView | null, seats: readonly Seat[], duration: number): void {
    if (view.edge !== this.#edge) this.#build(view.edge);
    const stood = before && before.edge === view.edge ? cellsOf(before) : new Map<number, Cell>();
    this.#view = view;
    this.#movers = [...cellsOf(view)].map(([seat, cell]) => ({ seat, from: this.#place(stood.get(seat) ?? cell), to: this.#place(cell) }));
    this.#paint(seats);
    this.#placeBombs(view.bombs);
    this.#began = performance.now();
    this.#lasts = duration;
    this.#ask();
  }

  /** A cross where a player died. */
  mark(crosses: readonly Cross[], seats: readonly Seat[]): void {
    for (const cross of this.#crosses.splice(0)) this.#scene.remove(cross);
    for (const { seat, place } of crosses) {
      const cross = textSprite('✕', css(`--seat-${(seats[seat]?.player ?? seat) % 10}`));
      cross.scale.setScalar(1.1 * this.#grown());
      cross.position.copy(this.#place(place as Cell));
      this.#crosses.push(cross);
      this.#scene.add(cross);
    }
    this.#ask();
  }

  slice(slice: Slice | null): void {
    this.#slice = slice;
    if (this.#view) this.#placeBombs(this.#view.bombs);
    this.#ask();
  }

  /** Show the cell at which a bomb is aimed, in the layer of the slice; null: none is. */
  aim(cell: Cell | null): void {
    this.#layer?.traverse(release);
    this.#layer?.removeFromParent();
    this.#layer = null;
    if (cell?.every(Number.isInteger) && this.#slice) {
      this.#layer = layerLines(this.#edge, this.#slice.axis, this.#place(cell), css('--muted'), css('--bad'));
      this.#scene.add(this.#layer);
    }
    this.#ask();
  }

  /** The cell of the slice under a point of the canvas; null: there is none. */
  cellAt(x: number, y: number): Cell | null {
    if (!this.#slice) return null;
    const { axis, layer } = this.#slice;
    const size = this.#renderer.getSize(new Vector2());
    const ray = new Raycaster();
    ray.setFromCamera(new Vector2((2 * x) / size.x - 1, 1 - (2 * y) / size.y), this.#camera);
    const on = this.#place([layer, layer, layer]);
    const normal = new Vector3().setComponent(axis, 1);
    const hit = ray.ray.intersectPlane(new Plane(normal, -on.getComponent(axis)), new Vector3());
    if (!hit) return null;
    const middle = (this.#edge - 1) / 2;
    const cell = [hit.x + middle, middle - hit.y, middle - hit.z].map((part, i) => (i === axis ? layer : Math.round(part)));
    return cell.every((part) => part >= 0 && part < this.#edge) ? (cell as unknown as Cell) : null;
  }

  resize(width: number, height: number): void {
    this.#renderer.setSize(width, height, false);
    this.#camera.aspect = width / height;
    this.#camera.updateProjectionMatrix();
    this.#ask();
  }

  /** Turn the cube by keyboard. */
  turn(around: number, up: number): void {
    const offset = this.#camera.position.clone();
    offset.applyAxisAngle(new Vector3(0, 1, 0), around);
    const side = new Vector3(0, 1, 0).cross(offset).normalize();
    const tilted = offset.clone().applyAxisAngle(side, up);
    if (Math.abs(tilted.y) < tilted.length() * 0.98) offset.copy(tilted);
    this.#camera.position.copy(offset);
    this.#controls.update();
    this.#ask();
  }

  recolour(seats: readonly Seat[]): void {
    this.#build(this.#edge);
    for (const sign of this.#signs.values()) this.#scene.remove(sign);
    this.#signs.clear();
    this.#paint(seats);
    this.#ask();
  }

  dispose(): void {
    cancelAnimationFrame(this.#asked);
    this.#controls.dispose();
    this.#scene.traverse(release);
    this.#renderer.dispose();
  }

  #ask(): void {
    if (!this.#asked) this.#asked = requestAnimationFrame((now) => this.#draw(now));
  }

  #draw(now: number): void {
    this.#asked = 0;
    const part = this.#lasts ? Math.min((now - this.#began) / this.#lasts, 1) : 1;
    this.#move(smooth(Math.max(part, 0)));
    this.#renderer.render(this.#scene, this.#camera);
    if (part < 1) this.#ask();
  }

  #move(part: number): void {
    const matrix = new Matrix4();
    const at = new Vector3();
    const stalks = this.#stalks.geometry.getAttribute('position') as BufferAttribute;
    const floor = -this.#edge / 2;
    this.#movers.forEach(({ seat, from, to }, i) => {
      at.lerpVectors(from, to, part);
      const whole = this.#inSlice(to);
      const size = this.#grown() * (whole ? 1 : OFF_SLICE);
      this.#balls.setMatrixAt(i, matrix.compose(at, UPRIGHT, new Vector3(size, size, size)));
      stalks.setXYZ(2 * i, at.x, at.y, at.z);
      stalks.setXYZ(2 * i + 1, at.x, floor, at.z);
      const sign = this.#signs.get(seat);
      if (sign) {
        sign.position.copy(at);
        sign.scale.setScalar(SIGN * this.#grown());
        sign.visible = whole;
      }
    });
    this.#balls.count = this.#movers.length;
    this.#balls.instanceMatrix.needsUpdate = true;
    this.#stalks.geometry.setDrawRange(0, this.#movers.length * 2);
    stalks.needsUpdate = true;
  }

  /** x to the right, y down, z away from us; the cube's middle is the origin. */
  #place([x, y, z]: Cell): Vector3 {
    const middle = (this.#edge - 1) / 2;
    return new Vector3(x - middle, middle - y, middle - z);
  }

  #grown(): number {
    return Math.max(1, this.#edge / PLAIN_EDGE);
  }

  #inSlice(at: Vector3): boolean {
    if (!this.#slice) return true;
    const middle = (this.#edge - 1) / 2;
    const layer = [at.x + middle, middle - at.y, middle - at.z][this.#slice.axis]!;
    return Math.abs(layer - this.#slice.layer) < 0.5;
  }

  #build(edge: number): void {
    if (this.#cage) this.#scene.remove(this.#cage);
    this.#cage = cage(edge, css('--muted'), css('--line'));
    this.#scene.add(this.#cage);
    (this.#stalks.material as LineBasicMaterial).color.set(css('--muted'));
    if (edge === this.#edge) return;
    this.#edge = edge;
    this.#camera.position.set(edge * 1.1, edge * 0.95, edge * 2.1);
    this.#camera.lookAt(0, 0, 0);
    this.#controls.minDistance = edge * 0.4;
    this.#controls.maxDistance = edge * 5;
    this.#controls.update();
  }

  /** Colours and signs of the living players. */
  #paint(seats: readonly Seat[]): void {
    this.#movers.forEach(({ seat }, i) => this.#balls.setColorAt(i, new Color(css(`--seat-${(seats[seat]?.player ?? seat) % 10}`))));
    if (this.#balls.instanceColor) this.#balls.instanceColor.needsUpdate = true;
    const living = new Set(this.#movers.map(({ seat }) => seat));
    for (const [seat, sign] of this.#signs) if (!living.has(seat)) sign.visible = false;
    for (const seat of living) if (!this.#signs.has(seat)) this.#addSign(seat, signOf(seats[seat]?.player ?? seat));
    for (const seat of living) this.#signs.get(seat)!.visible = true;
  }

  #addSign(seat: number, words: string): void {
    const sign = textSprite(words, css('--paper'));
    this.#signs.set(seat, sign);
    this.#scene.add(sign);
  }

  #placeBombs(bombs: readonly Cell[]): void {
    if (bombs.length > this.#bombs.instanceMatrix.count) {
      this.#scene.remove(this.#bombs);
      this.#bombs = bombMesh(bombs.length * 2);
      this.#scene.add(this.#bombs);
    }
    const matrix = new Matrix4();
    bombs.forEach((cell, i) => {
      const at = this.#place(cell);
      const size = this.#grown() * (this.#inSlice(at) ? 1 : OFF_SLICE);
      this.#bombs.setMatrixAt(i, matrix.compose(at, UPRIGHT, new Vector3(size, size, size)));
    });
    (this.#bombs.material as MeshLambertMaterial).color.set(css('--ink'));
    this.#bombs.count = bombs.length;
    this.#bombs.instanceMatrix.needsUpdate = true;
  }
}

function bombMesh(capacity: number): InstancedMesh {
  const mesh = new InstancedMesh(new IcosahedronGeometry(0.22), new MeshLambertMaterial(), capacity);
  mesh.count = 0;
  mesh.frustumCulled = false;
  return mesh;
}

/** The outline of the cube and grids on its floor and back wall. */
function cage(edge: number, strong: string, faint: string): Object3D {
  const outline = new LineSegments(new EdgesGeometry(new BoxGeometry(edge, edge, edge)), new LineBasicMaterial({ color: strong }));
  const half = edge / 2;
  const points: number[] = [];
  const every = Math.ceil(edge / 16);
  for (let i = every; i < edge; i += every) {
    const at = i - half;
    points.push(at, -half, -half, at, -half, half, -half, -half, at, half, -half, at);
    points.push(at, -half, -half, at, half, -half, -half, at, -half, half, at, -half);
  }
  const geometry = new BufferGeometry();
  geometry.setAttribute('position', new BufferAttribute(new Float32Array(points), 3));
  outline.add(new LineSegments(geometry, new LineBasicMaterial({ color: faint })));
  return outline;
}

/** The lines of a layer across an axis, and the cell at `place` in it. */
function layerLines(edge: number, axis: 0 | 1 | 2, place: Vector3, faint: string, strong: string): Object3D {
  const half = edge / 2;
  const points: number[] = [];
  const others = [0, 1, 2].filter((one) => one !== axis);
  for (const [along, across] of [others, [...others].reverse()]) {
    for (let at = -half; at <= half; at++) {
      for (const end of [-half, half]) points.push(...place.clone().setComponent(along!, end).setComponent(across!, at).toArray());
    }
  }
  const geometry = new BufferGeometry();
  geometry.setAttribute('position', new BufferAttribute(new Float32Array(points), 3));
  const lines = new LineSegments(geometry, new LineBasicMaterial({ color: faint, transparent: true, opacity: 0.5 }));
  const cell = new LineSegments(new EdgesGeometry(new BoxGeometry(1, 1, 1)), new LineBasicMaterial({ color: strong }));
  cell.position.copy(place);
  cell.add(textSprite('✹', strong));
  lines.add(cell);
  return lines;
}

/** Free what the graphics card keeps of an object. */
function release(one: Object3D): void {
  if (one instanceof Sprite) one.material.map?.dispose();
  else if ('geometry' in one) (one.geometry as BufferGeometry).dispose();
  if ('material' in one) for (const material of [one.material].flat()) (material as Material).dispose();
}

function textSprite(words: string, colour: string): Sprite {
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = 64;
  const pen = canvas.getContext('2d')!;
  pen.font = 'bold 48px system-ui, sans-serif';
  pen.textAlign = 'center';
  pen.textBaseline = 'middle';
  pen.fillStyle = colour;
  pen.fillText(words, 32, 35);
  const map = new CanvasTexture(canvas);
  map.colorSpace = SRGBColorSpace;
  return new Sprite(new SpriteMaterial({ map, depthTest: false }));
}

function css(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim() || '#888888';
}

function smooth(part: number): number {
  return part * part * (3 - 2 * part);
}
