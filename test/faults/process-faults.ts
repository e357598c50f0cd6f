import type { Fault } from './fault.ts'

/** Faults of several processes on one database, of background runs, and of the start and the end of a process. */
export const processFaults: readonly Fault[] = [
  {
    name: 'what is leased ahead is not taken from the bucket',
    file: 'src/storage/postgres/cluster/lease-renewal.ts',
    original: 'bucket.charge(given, now)\n',
    replacement: '',
    tests: ['test/unit/storage/limit-leases.test.ts'],
  },
  {
    name: 'the renewal of leases in PostgreSQL does not lock the bucket',
    file: 'src/storage/postgres/cluster/lease-store.ts',
    original: 'ORDER BY b.organization_id, b.kind FOR NO KEY UPDATE OF b',
    replacement: 'ORDER BY b.organization_id, b.kind',
    tests: ['test/reliability/processes/limits.test.ts'],
  },
  {
    name: 'a run in PostgreSQL is started by a process that does not own it',
    file: 'src/storage/postgres/cluster/run-store.ts',
    original: 'WHERE response_id = $1 AND process_id = $3 AND NOT cancel_requested',
    replacement: 'WHERE response_id = $1 AND NOT cancel_requested',
    tests: ['test/unit/storage/run-store.test.ts'],
  },
  {
    name: 'a process is evicted although it has sent a heartbeat since it was observed',
    file: 'src/storage/postgres/cluster/processes.ts',
    original: 'WHERE id = $1 AND beat = coalesce($2, beat) RETURNING id',
    replacement: 'WHERE id = $1 AND beat >= coalesce($2, beat) RETURNING id',
    tests: ['test/unit/storage/processes.test.ts'],
  },
  {
    name: 'a process that was suspended evicts the others',
    file: 'src/storage/postgres/cluster/heartbeat.ts',
    original: 'if (answeredAt - this.#observedAt > maxGapMs)',
    replacement: 'if (this.#observedAt - answeredAt > maxGapMs)',
    tests: ['test/unit/storage/heartbeat.test.ts'],
  },
  {
    name: 'a background run that ends does not wake up the queue',
    file: 'src/api/responses/background/scheduler.ts',
    original: 'this.#count(organization, -1)\n    this.schedule(organization)\n',
    replacement: 'this.#count(organization, -1)\n',
    tests: ['test/api/background/order.test.ts'],
  },
  {
    name: 'a reload does not start the queued runs that it allows',
    file: 'src/server/runtime.ts',
    original: 'runs.schedule()\n',
    replacement: '',
    tests: ['test/api/background/order.test.ts'],
  },
  {
    name: 'a graceful stop does not wait for open requests',
    file: 'src/cli/serve/shutdown.ts',
    original: 'await Promise.race([runtime.drained(), deadline])\n',
    replacement: '',
    tests: ['test/reliability/operation/stop.test.ts'],
  },
  {
    name: 'a backup is published before it is complete',
    file: 'src/storage/sqlite/connection/backup.ts',
    original: 'await copyInThread(database, part)',
    replacement: 'void copyInThread(database, part)',
    tests: ['test/reliability/operation/backup.test.ts'],
  },
  {
    name: 'migrations are applied in the wrong order',
    file: 'src/storage/migrations.ts',
    original: 'journal.entries.map(',
    replacement: 'journal.entries.toReversed().map(',
    tests: ['test/unit/storage/database.test.ts'],
  },
]
