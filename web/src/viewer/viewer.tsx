/** MatchViewer: any match, live, stored or from a file. It needs no server, no router and no network: all it uses is in its props. */
import type { ReadonlySignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { Film } from '../replay/film';
import type { Renderer } from '../renderers/renderer';
import { useRenderer } from '../renderers/use';
import { Charts } from './charts';
import { Controls, IconButton } from './controls';
import { useCopying } from '../parts/copy-line';
import { EmbedDialog, HelpDialog } from './dialogs';
import { EventList } from './events';
import { Icon } from './icons';
import type { Links } from './links';
import { LiveState } from './live-state';
import { Players, type PlayerFacts } from './players';
import { PositionText } from './position-text';
import { ResultBox } from './result';
import { SeekBar } from './seek-bar';
import { Stage } from './stage';
import type { Connection } from './stream';
import { read, useHotkeys } from './use';
import { stepOf, useShowing, type Showing } from './showing';

/** The state of a live match. */
export interface Live {
  /** Changes when the film has grown. */
  grown: ReadonlySignal<number>;
  connection: ReadonlySignal<Connection>;
  /** Milliseconds since the match began. */
  time: () => number;
  /** Reconnect at once. */
  retry: () => void;
}

export interface ViewerProps {
  film: Film;
  live?: Live | null;
  /** The renderer, if it is loaded already. */
  renderer?: Renderer | null;
  /** The number of steps played at the first frame to show. */
  step?: number | null;
  /** null: there is no server. */
  links?: Links | null;
  /** More about the players than the film has, in the same order. */
  players?: readonly PlayerFacts[];
  /** Called with the number of steps played when the user stops at a frame; null: the user follows a live match. */
  onStep?: ((step: number | null) => void) | undefined;
  /** What is shown under the time line. */
  under?: (showing: Showing) => ComponentChildren;
  /** Whether to show only the board and its controls. */
  minimal?: boolean;
}

export function MatchViewer(props: ViewerProps) {
  const loaded = useRenderer(props.renderer ? null : props.film.header.game);
  const renderer = props.renderer ?? loaded;
  const grown = read(props.live?.grown, 0);
  if (!renderer || props.film.length === 0) return <p class="quiet" role="status">Loading the match …</p>;
  return <Loaded {...props} renderer={renderer} grown={grown} />;
}

type LoadedProps = ViewerProps & { renderer: Renderer; grown: number };

function Loaded(props: LoadedProps) {
  const showing = useShowing(props);
  const { live = null, minimal = false } = props;
  const { film, playback } = showing;
  const box = useRef<HTMLDivElement>(null);
  return (
    <div class={minimal ? 'viewer minimal' : 'viewer'} ref={box}>
      <div class="viewer-board">
        <Stage {...showing} />
        <div class="caption-row">
          <Caption {...showing} />
          {live && !film.over && <LiveState connection={live.connection.value} retry={live.retry} playback={playback} />}
        </div>
        <SeekBar {...showing} />
        <Buttons {...showing} minimal={minimal} fullScreen={() => void toggleFullScreen(box.current)} />
        {props.under?.(showing)}
      </div>
      {!minimal && (
        <div class="viewer-panel">
          <Players {...showing} facts={props.players ?? []} liveTime={film.over ? null : (live?.time ?? null)} />
          <EventList {...showing} />
        </div>
      )}
      {!minimal && (
        <div class="viewer-below">
          <ResultBox {...showing} />
          <Charts {...showing} />
        </div>
      )}
      <PositionText {...showing} visible={!minimal} />
    </div>
  );
}

/** The event of the current frame. */
function Caption({ film, playback, digest, inWords }: Showing) {
  const index = playback.index.value;
  return (
    <p class="caption">
      <span class="caption-step">{stepOf(digest, index)} / {stepOf(digest, film.length - 1)}</span>
      <span class="caption-words">{inWords(index)}</span>
    </p>
  );
}

function Buttons({ minimal, fullScreen, ...showing }: Showing & { minimal: boolean; fullScreen: () => void }) {
  const { film, playback, digest, links } = showing;
  const [dialog, setDialog] = useState<'help' | 'embed' | null>(null);
  const [copied, copy] = useCopying();
  const copyLink = () => links && copy(links.page(stepOf(digest, playback.index.value)));
  useHotkeys({ playback, toMark: (way) => playback.toMark(digest.marks, way), fullScreen, copyLink, help: () => setDialog('help') });
  return (
    <>
      <Controls playback={playback} length={film.length}>
        {links && <IconButton icon="link" words={copied ? 'Copied' : 'Copy a link to this step'} class={copied ? 'done' : ''} onClick={copyLink} />}
        {links?.fork && !minimal && <a class="icon-button button" href={links.fork(Math.min(stepOf(digest, playback.index.value), stepOf(digest, film.length - 1) - 1))} aria-label="Continue from here" title="Continue from here"><Icon name="fork" /></a>}
        {links && !minimal && <IconButton icon="embed" words="Embed" onClick={() => setDialog('embed')} />}
        <IconButton icon="full" words="Full screen" onClick={fullScreen} />
        {!minimal && <IconButton icon="help" words="Keys" onClick={() => setDialog('help')} />}
      </Controls>
      {dialog === 'help' && <HelpDialog close={() => setDialog(null)} />}
      {dialog === 'embed' && links && <EmbedDialog line={links.embed(stepOf(digest, playback.index.value))} close={() => setDialog(null)} />}
    </>
  );
}

async function toggleFullScreen(box: HTMLElement | null): Promise<void> {
  try {
    await (document.fullscreenElement ? document.exitFullscreen() : box?.requestFullscreen());
  } catch {
    // The frame that the page is in does not allow it.
  }
}
