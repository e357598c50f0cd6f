/**
 * A map for entries that live no longer than a request, with strings as keys (other than numbers, which are slow).
 *
 * It is no `Map`: whenever JavaScriptCore replaces the table of a `Map` or `Set`, the old table keeps its entries and
 * refers to the new one. A collection of young objects begins at old tables, too, so a third of the deleted entries would
 * outlive it, with all that they refer to, until the next full collection. Pauses would be twice as long.
 */
export class TransientMap<Value extends NonNullable<unknown>> {
  readonly #values: Record<string, Value> = Object.create(null)
  #size = 0

  get size(): number {
    return this.#size
  }

  get(key: string): Value | undefined {
    return this.#values[key]
  }

  set(key: string, value: Value): void {
    if (this.#values[key] === undefined) this.#size++
    this.#values[key] = value
  }

  delete(key: string): void {
    if (this.#values[key] === undefined) return
    delete this.#values[key]
    this.#size--
  }

  /** The keys, in the order in which they were set first. */
  keys(): readonly string[] {
    return Object.keys(this.#values)
  }

  /** The values in the order of the keys. */
  values(): readonly Value[] {
    return Object.values(this.#values)
  }
}

/** An object that can be in one `TransientSet`, which keeps its index there up to date. */
export type TransientMember = { index: number }

/** The index of an object that is in no set. */
export const notInSet = -1

/**
 * A set, in no order, for members that live no longer than a request. It is no `Set`, for the reason that `TransientMap` is
 * no `Map`.
 */
export class TransientSet<Member extends TransientMember> {
  readonly #members: Member[] = []

  get size(): number {
    return this.#members.length
  }

  add(member: Member): void {
    if (this.#members[member.index] !== member) member.index = this.#members.push(member) - 1
  }

  /** Does nothing for an object that is not in the set. */
  delete(member: Member): void {
    if (this.#members[member.index] !== member) return
    const last = this.#members.pop()
    if (last !== undefined && last !== member) {
      this.#members[member.index] = last
      last.index = member.index
    }
    member.index = notInSet
  }

  /** The members as they are now. */
  values(): readonly Member[] {
    return [...this.#members]
  }
}
