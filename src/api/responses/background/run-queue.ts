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
  /** The keys without a free slot of their own, by their organization: their runs have no turn until it is unparked. */
  readonly #skipped = new Map<string, Set<string>>()
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

  /** Whether runs wait for a slot. */
  isWaiting(): boolean {
    return this.#parked.size + this.#skipped.size > 0
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
    else this.#parkIfSkipped(live.organization)
    queued.run.leaveQueue?.()
    return queued.run
  }

  /** The oldest run of the organization whose turn it is; undefined if all organizations are parked. */
  first(): Run | undefined {
    const [organization] = this.#ready
    return organization === undefined ? undefined : this.#oldestOf(organization)
  }

  /** Lets no run of this key have a turn until its organization is unparked; other keys of the organization have theirs. */
  skipKey({ live, metadata }: Run): void {
    const { organization } = live
    if (!this.#organizations.has(organization)) return
    const keys = this.#skipped.get(organization) ?? new Set()
    this.#skipped.set(organization, keys.add(metadata.key))
    if (this.#parked.delete(organization)) this.#ready.add(organization)
    this.#parkIfSkipped(organization)
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
    if (organization === undefined) this.#skipped.clear()
    else this.#skipped.delete(organization)
    for (const id of organization === undefined ? [...this.#parked] : [organization])
      if (this.#parked.delete(id)) this.#ready.add(id)
  }

  #oldestOf(organization: string): Run | undefined {
    const skipped = this.#skipped.get(organization)
    for (const { run } of this.#organizations.get(organization)?.runs.values() ?? [])
      if (!skipped?.has(run.metadata.key)) return run
    return undefined
  }

  /** An organization whose turn it is must have a run that may start. */
  #parkIfSkipped(organization: string): void {
    if (!this.#skipped.has(organization) || this.#oldestOf(organization) !== undefined) return
    if (this.#ready.delete(organization)) this.#parked.add(organization)
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
    this.#skipped.delete(organization)
  }
}

type OrganizationQueue = {
  readonly runs: Map<LiveResponse, { readonly run: Run; readonly characters: number }>
  characters: number
}

function charactersOf({ live, metadata }: Run): number {
  return JSON.stringify(live.head).length + JSON.stringify(metadata).length
}
