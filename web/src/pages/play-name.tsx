/** The name under which a guest plays. */

export function NameField({ name, setName }: { name: string; setName: (name: string) => void }) {
  return (
    <label class="field">
      Your name
      <input required maxLength={64} value={name} autocomplete="nickname" onInput={(event) => setName(event.currentTarget.value)} />
    </label>
  );
}
