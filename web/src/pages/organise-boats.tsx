/** Boat rooms: open them, change their rules, and host the games in them. */
import { useState } from 'preact/hooks';
import type { BoatRoomShown, BoatRoomsShown } from '../api/types';
import { useRest } from '../api/use';
import { change } from '../parts/doing';
import { Problem } from '../parts/problem';
import { BoatRoom } from './organise-boat-room';
import { RoomFields, startRules, type RoomRules } from './organise-room-fields';

export function BoatRooms() {
  const { value, error, again } = useRest<BoatRoomsShown>('/operator/boats', 1000);
  if (!value) return error ? <Problem words={error} retry={again} /> : <p class="quiet" role="status">Loading …</p>;
  return (
    <>
      {value.rooms.map((room) => <BoatRoom key={room.settings.title} shown={room} changed={again} />)}
      <NewRoom opened={again} />
    </>
  );
}

function NewRoom({ opened }: { opened: () => void }) {
  const [title, setTitle] = useState('');
  const [rules, setRules] = useState<RoomRules>(startRules);
  const [own, setOwn] = useState(true);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const body = { title, ...rules, port: own ? -1 : 0 };
    const done = ({ port }: BoatRoomShown) => `The room ${title} is open at port ${port}.`;
    if (await change<BoatRoomShown>('/operator/boats', { method: 'POST', body }, done)) {
      setTitle('');
      opened();
    }
  };
  return (
    <form class="card" aria-label="Open a room" onSubmit={(event) => void submit(event)}>
      <h2>Open a room</h2>
      <div class="form">
        <label class="field">Title <input required maxLength={60} pattern="[^\|]+" value={title} onInput={(event) => setTitle(event.currentTarget.value)} /></label>
        <label class="field">Port
          <select value={own ? 'own' : 'shared'} onChange={(event) => setOwn(event.currentTarget.value === 'own')}>
            <option value="own">a free port of its own</option>
            <option value="shared">the shared port; players ask for the title</option>
          </select>
        </label>
        <RoomFields rules={rules} onChange={setRules} />
      </div>
      <p class="form-end"><button type="submit" class="main">Open the room</button></p>
      <p class="quiet">A room that is opened here is gone when it is closed, or when the server restarts. Rooms that should stay go into the settings of the server.</p>
    </form>
  );
}
