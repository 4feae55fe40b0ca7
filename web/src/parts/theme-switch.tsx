/** The button that changes between the light and the dark theme. */
import { switchTheme, theme } from '../theme';

export function ThemeSwitch() {
  const other = theme.value === 'dark' ? 'light' : 'dark';
  return (
    <button type="button" class="plain" aria-label={`Switch to the ${other} theme`} onClick={switchTheme}>
      {theme.value === 'dark' ? '☀' : '☾'}
    </button>
  );
}
