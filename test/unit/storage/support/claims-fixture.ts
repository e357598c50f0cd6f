import { timeSortedId } from '../../../../src/lib/id.ts'
import type { RunKey } from '../../../../src/storage/ports/run-store.ts'
import { requestOf } from './ledger-fixture.ts'
import { responseStore, unfinished } from './response-fixture.ts'
import type { OpenStore, SharedTestStore } from './stores.ts'

/** A store with the live processes `p1` and `p2`, and the runs of two organizations. */
export async function claimsStore(open: OpenStore<SharedTestStore>) {
  const opened = await open()
  const fixture = await responseStore(async () => opened)
  const { store, acme, insert, finish } = fixture
  const { ledger, runs } = store
  const enter = (id: string) =>
    store.rows(`INSERT INTO processes (id, beat, started_at) VALUES ('${id}', 0, 0)`)
  await enter('p1')
  await enter('p2')

  /** Queues a run of this process, and returns its key. */
  async function queued(
    process: string,
    organization = acme,
    request = timeSortedId('req_'),
  ): Promise<RunKey> {
    const response = { ...unfinished(organization, 'queued'), owner: { process, request } }
    await insert(response)
    return { organization, id: response.id }
  }

  /** The same, with a reservation of this process. */
  async function reserved(process: string): Promise<RunKey & { readonly request: string }> {
    const request = requestOf(acme)
    await store.organizations.credit('acme', 10n)
    await ledger.reserve({ request, amount: 10n, promptCost: 1n, promptTokens: 7 })
    await store.rows(`UPDATE reservations SET process_id = '${process}' WHERE request_id = '${request.id}'`)
    return { ...(await queued(process, acme, request.id)), request: request.id }
  }

  /** Starts a run of this process, and returns its key. */
  async function started(process: string): Promise<RunKey> {
    const run = await queued(process)
    if (!(await runs.start(process, run))) throw new Error('The run did not start.')
    return run
  }

  return {
    ...fixture,
    runs,
    queued,
    reserved,
    started,
    enter,
    removeProcess: (id: string) => store.rows(`DELETE FROM processes WHERE id = '${id}'`),
    end: (run: RunKey) => finish(run.organization, run.id, { status: 'completed', log: '["all"]\n' }),
    append: (process: string, run: RunKey, position: number, entries = `[${position}]\n`) =>
      runs.append(process, [{ ...run, position, entries }]),
    /** The owner of a run. */
    ownerOf: async (run: RunKey) => {
      const rows = await store.rows(`SELECT process_id FROM runs WHERE response_id = '${run.id}'`)
      return rows[0]?.process_id
    },
    /** The process that settles the reservation of a request. */
    settlerOf: async (request: string) => {
      const rows = await store.rows(`SELECT process_id FROM reservations WHERE request_id = '${request}'`)
      return rows[0]?.process_id
    },
  }
}

/** The ids of runs. */
export function idsOf(runs: readonly RunKey[]): string[] {
  return runs.map(({ id }) => id)
}
