/** An object that can be in one `TransientSet`, which keeps its place there up to date. */
export type TransientMember = { place: number }

/** The place of an object that is in no set. */
export const noPlace = -1

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
    if (this.#members[member.place] !== member) member.place = this.#members.push(member) - 1
  }

  /** Does nothing for an object that is not in the set. */
  delete(member: Member): void {
    if (this.#members[member.place] !== member) return
    const last = this.#members.pop()
    if (last !== undefined && last !== member) {
      this.#members[member.place] = last
      last.place = member.place
    }
    member.place = noPlace
  }

  /** The members as they are now. */
  values(): readonly Member[] {
    return [...this.#members]
  }
}
