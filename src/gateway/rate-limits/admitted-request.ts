import type { MemoryLease } from '../../lib/memory-budget.ts'

/** What an admitted request holds and has done, whatever its limits are. */
export abstract class AdmittedRequest {
  /** The memory that the request holds. A call that begins releases it at its end. */
  readonly memory: MemoryLease
  #detached = false
  #recorded = false

  constructor(memory: MemoryLease) {
    this.memory = memory
  }

  /** Releases the slot and the memory, unless a call or a response has taken them over. */
  release(): void {
    this.freeSlot()
    if (!this.#detached) this.memory.release()
  }

  /** Acquires the bytes of a reply. It releases the lease once it is sent, also where a call has taken over the memory. */
  acquireReply(bytes: number): MemoryLease {
    this.memory.acquireUpTo(bytes)
    if (this.#detached) this.memory.retain()
    return this.detachMemory()
  }

  /** Hands the memory over to the response, which releases it once it is sent. */
  detachMemory(): MemoryLease {
    this.#detached = true
    return this.memory
  }

  /** Marks the request as recorded without a call. */
  markRecorded(): void {
    this.#recorded = true
  }

  /** Whether the request is recorded or its call has begun: from then on it is settled, however it ends. */
  isRecorded(): boolean {
    return this.#recorded
  }

  /** Frees the slot that no call has taken over. */
  protected abstract freeSlot(): void
}
