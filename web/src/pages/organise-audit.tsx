/** Audit log: the actions taken with the operator's token. */
import type { AuditEntry, AuditShown } from '../api/types';
import { DataTable, type Column } from '../parts/data-table';

const COLUMNS: Column<AuditEntry>[] = [
  { title: 'When', head: true, cell: ({ at }) => <time dateTime={at}>{new Date(at).toLocaleString()}</time> },
  { title: 'Action', cell: ({ action }) => action },
  { title: 'On', cell: ({ target }) => <bdi>{target}</bdi> },
  { title: 'Details', cell: ({ detail }) => <bdi>{detail}</bdi> },
  { title: 'From', cell: ({ who, address }) => `${who}, ${address}`, wide: true },
];

export function Audit() {
  return (
    <DataTable<AuditEntry, AuditShown> caption="Actions, newest first" from="/operator/audit" rows={({ entries }) => entries} columns={COLUMNS} usual=""
      limit={50} empty="Nothing has been done yet." every={5000} />
  );
}
