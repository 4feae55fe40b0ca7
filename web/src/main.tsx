/** The pages: the frame around all of them, and the page that the address names. */
import { render } from 'preact';
import { Frame } from './frame';
import { follow, go } from './router';
import { applyTheme } from './theme';
import { takeDroppedFiles } from './viewer/dropped';

applyTheme();
follow();
takeDroppedFiles(() => go('/open'));
render(<Frame />, document.getElementById('app')!);
