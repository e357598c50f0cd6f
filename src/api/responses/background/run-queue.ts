import type { LiveResponse } from '../live/live-response.ts'
import type { Run } from './run.ts'

/**
 * Queued runs. Organizations take turns, whatever number each has; those of one organization are first in, first out.
 * One whose turn comes in vain rests until it is woken, and its runs are not looked at meanwhile.
 */
export class RunQueue {
  readonly #organizations = new Map<string, OrganizationQueue>()
  /** The organizations in the order of their turns, and those that rest. */
  readonly #ready = new Set<string>()
  readonly #resting = new Set<string>()
  #size = 0
  #characters = 0

  get size(): number {
    return this.#size
  }

  /** About how many characters they keep in memory; the input of a run is only in the database. */
  get characters(): number {
    return this.#characters
  }

  /** How many organizations rest. */
  get parked(): number {
    return this.#resting.size
  }

  /** How many runs the organization has queued, and about how many characters they keep. */
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
    if (!this.#resting.has(organization)) this.#ready.add(organization)
  }

  /** Removes the run; undefined where it is not queued. */
  remove(live: LiveResponse): Run | undefined {
    const own = this.#organizations.get(live.organization)
    const queued = own?.runs.get(live)
    if (own === undefined || queued === undefined) return undefined
    own.runs.delete(live)
    this.#count(own, -1, -queued.characters)
    if (own.runs.size === 0) this.#forget(live.organization)
    return queued.run
  }

  /** The oldest run of the organization whose turn it is; undefined where all rest. */
  first(): Run | undefined {
    const [organization] = this.#ready
    const [oldest] = this.#organizations.get(organization ?? '')?.runs.values() ?? []
    return oldest?.run
  }

  /** Removes the first one and gives the turn to the next organization. */
  removeFirst(): void {
    const run = this.first()
    if (run === undefined) return
    const { organization } = run.live
    this.remove(run.live)
    if (this.#ready.delete(organization) && this.#organizations.has(organization))
      this.#ready.add(organization)
  }

  /** Lets the organization whose turn it is rest. */
  park(): void {
    const [organization] = this.#ready
    if (organization === undefined) return
    this.#ready.delete(organization)
    this.#resting.add(organization)
  }

  /** Ends the rest of this organization, or of all. */
  unpark(organization?: string): void {
    for (const one of organization === undefined ? [...this.#resting] : [organization])
      if (this.#resting.delete(one)) this.#ready.add(one)
  }

  #count(own: OrganizationQueue, runs: number, characters: number): void {
    own.characters += characters
    this.#size += runs
    this.#characters += characters
  }

  #forget(organization: string): void {
    this.#organizations.delete(organization)
    this.#ready.delete(organization)
    this.#resting.delete(organization)
  }
}

type OrganizationQueue = {
  readonly runs: Map<LiveResponse, { readonly run: Run; readonly characters: number }>
  characters: number
}

function charactersOf({ live, facts }: Run): number {
  return JSON.stringify(live.head).length + JSON.stringify(facts).length
}
