/** All boards that were played over duel arena. */
import { useEffect } from 'preact/hooks';
import type { DuelBoards, PlayerBoard } from '../api/types';
import { boardColumns } from '../parts/boards';
import { DataTable } from '../parts/data-table';

const COLUMNS = boardColumns(null);

export default function HistoryPage() {
  useEffect(() => void (document.title = 'Boards · Duel arena'), []);
  return (
    <>
      <h1>Boards of duel arena</h1>
      <p class="quiet"><a href="/duel">All players</a></p>
      <DataTable<PlayerBoard, DuelBoards> caption="Boards, the latest first" from="/duel/boards" rows={(answer) => answer.boards} columns={COLUMNS} usual="" limit={50} every={5000}
        empty="No board has ended yet." />
    </>
  );
}
