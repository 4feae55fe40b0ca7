/** The pages: the frame around all of them, and the page that the address names. */
import { render } from 'preact';
import { Frame } from './frame';
import { follow } from './router';
import { applyTheme } from './theme';

applyTheme();
follow();
render(<Frame />, document.getElementById('app')!);
