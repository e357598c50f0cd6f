import type { LiveResponse } from '../live/live-response.ts'
import type { Run } from './run.ts'

/**
 * The queued runs. Organizations take turns, whatever number of runs each has; the runs of one organization are first in,
 * first out. An organization whose run cannot start is parked until it is unparked; meanwhile it has no turn.
 */
export class RunQueue {
  readonly #organizations = new Map<string, OrganizationQueue>()
  /** The organizations in the order of their turns. */
  readonly #ready = new Set<string>()
  readonly #parked = new Set<string>()
  #size = 0
  #characters = 0

  /** The number of queued runs. */
  get size(): number {
    return this.#size
  }

  /** The approximate memory of the queue in characters; the input of a run is only in the database. */
  get characters(): number {
    return this.#characters
  }

  /** The parked organizations. */
  get parked(): ReadonlySet<string> {
    return this.#parked
  }

  /** All queued runs. */
  runs(): readonly Run[] {
    return this.#organizations
      .values()
      .flatMap(({ runs }) => runs.values().map(({ run }) => run))
      .toArray()
  }

  /** The number of queued runs of one organization, and their approximate memory in characters. */
  countsOf(organization: string): { readonly size: number; readonly characters: number } {
    const own = this.#organizations.get(organization)
    return { size: own?.runs.size ?? 0, characters: own?.characters ?? 0 }
  }

  add(run: Run): void {
    const { organization } = run.live
    const own = this.#organizations.get(organization) ?? { runs: new Map(), characters: 0 }
    this.#organizations.set(organization, own)
    const characters = charactersOf(run)
    own.runs.set(run.live, { run, characters })
    this.#count(own, 1, characters)
    if (!this.#parked.has(organization)) this.#ready.add(organization)
  }

  /** Removes the run of this response and returns it; undefined if it is not queued. */
  remove(live: LiveResponse): Run | undefined {
    const own = this.#organizations.get(live.organization)
    const queued = own?.runs.get(live)
    if (own === undefined || queued === undefined) return undefined
    own.runs.delete(live)
    this.#count(own, -1, -queued.characters)
    if (own.runs.size === 0) this.#forget(live.organization)
    queued.run.leaveQueue?.()
    return queued.run
  }

  /** The oldest run of the organization whose turn it is; undefined if all organizations are parked. */
  first(): Run | undefined {
    const [organization] = this.#ready
    const [oldest] = this.#organizations.get(organization ?? '')?.runs.values() ?? []
    return oldest?.run
  }

  /** Removes the first run, and gives the turn to the next organization. */
  removeFirst(): void {
    const run = this.first()
    if (run === undefined) return
    const { organization } = run.live
    this.remove(run.live)
    if (this.#ready.delete(organization) && this.#organizations.has(organization))
      this.#ready.add(organization)
  }

  /** Parks the organization whose turn it is. */
  park(): void {
    const [organization] = this.#ready
    if (organization === undefined) return
    this.#ready.delete(organization)
    this.#parked.add(organization)
  }

  /** Unparks this organization, or all of them. */
  unpark(organization?: string): void {
    for (const id of organization === undefined ? [...this.#parked] : [organization])
      if (this.#parked.delete(id)) this.#ready.add(id)
  }

  #count(own: OrganizationQueue, runs: number, characters: number): void {
    own.characters += characters
    this.#size += runs
    this.#characters += characters
  }

  #forget(organization: string): void {
    this.#organizations.delete(organization)
    this.#ready.delete(organization)
    this.#parked.delete(organization)
  }
}

type OrganizationQueue = {
  readonly runs: Map<LiveResponse, { readonly run: Run; readonly characters: number }>
  characters: number
}

function charactersOf({ live, metadata }: Run): number {
  return JSON.stringify(live.head).length + JSON.stringify(metadata).length
}
