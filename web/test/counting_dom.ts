/** A document that does nothing but count what is written to it, for tests of what an update costs. */

export let writes = 0;

class CountingNode {
  parentNode: CountingElement | null = null;
  childNodes: CountingNode[] = [];
  constructor(readonly nodeType: number, readonly localName: string) {}
  get firstChild(): CountingNode | null { return this.childNodes[0] ?? null; }
  get nextSibling(): CountingNode | null {
    const siblings = this.parentNode?.childNodes ?? [];
    return siblings[siblings.indexOf(this) + 1] ?? null;
  }
  remove(): void { this.parentNode?.removeChild(this); }
}

class CountingText extends CountingNode {
  constructor(private text: string) { super(3, '#text'); }
  get data(): string { return this.text; }
  set data(text: string) { writes++; this.text = text; }
}

class CountingElement extends CountingNode {
  attributes: { name: string; value: string }[] = [];
  style = new Proxy<Record<string, unknown>>({ setProperty: () => void writes++ }, { set: (target, key, value) => { writes++; target[String(key)] = value; return true; } });
  get namespaceURI(): string { return 'http://www.w3.org/2000/svg'; }
  insertBefore(node: CountingNode, before: CountingNode | null): void {
    node.parentNode?.childNodes.splice(node.parentNode.childNodes.indexOf(node), 1);
    writes++;
    const at = before ? this.childNodes.indexOf(before) : this.childNodes.length;
    this.childNodes.splice(at, 0, node);
    node.parentNode = this;
  }
  appendChild(node: CountingNode): void { this.insertBefore(node, null); }
  removeChild(node: CountingNode): void {
    writes++;
    this.childNodes.splice(this.childNodes.indexOf(node), 1);
    node.parentNode = null;
  }
  setAttribute(): void { writes++; }
  removeAttribute(): void { writes++; }
  addEventListener(): void { writes++; }
  removeEventListener(): void { writes++; }
}

export function countingRoot(): Element {
  const create = (name: string) => new CountingElement(1, name);
  Object.assign(globalThis, {
    document: { createElement: create, createElementNS: (_: string, name: string) => create(name), createTextNode: (text: string) => new CountingText(text) },
  });
  return create('div') as unknown as Element;
}
