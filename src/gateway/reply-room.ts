import type { Generation } from '../domain/generation/request.ts'
import type { AbortLike } from '../lib/abort.ts'
import type { MemoryLease } from '../lib/memory-budget.ts'
import { RecentMap } from '../lib/recent-map.ts'
import type { GenerateRequest } from './generate-request.ts'

/** Undefined for a request whose reply its tokens bound. */
export function replyRoomOf(request: GenerateRequest, sizes: ReplySizes): ReplyRoom | undefined {
  return request.generation.operation === 'embedding' ? new ReplyRoom(request, sizes) : undefined
}

/**
 * The memory of a reply with embeddings, which a short request can make large. It is acquired before the request is sent:
 * a reply that was paid for is delivered, and would be paid for again if it were rejected.
 */
export class ReplyRoom {
  readonly #lease: MemoryLease
  readonly #sizes: ReplySizes
  readonly #slug: string
  readonly #generation: Generation
  #bytes = 0
  #used = 0

  constructor({ admission, model, generation }: GenerateRequest, sizes: ReplySizes) {
    this.#lease = admission.memory
    this.#sizes = sizes
    this.#slug = model.slug
    this.#generation = generation
  }

  /** Resolves once there is room. Rejects with the 503 if there is none in time, and when the signal aborts. */
  async acquire(signal: AbortLike): Promise<void> {
    const estimate = () => this.#sizes.estimate(this.#slug, this.#generation)
    this.#bytes = await this.#lease.acquireReply(estimate, signal)
  }

  /** The request is sent to a provider: what an earlier one has sent is void. */
  attemptStarted(): void {
    this.#used = 0
  }

  /** Uses the room for bytes that are about to be read. Bytes beyond it are held as well, even where they do not fit. */
  readonly use = (bytes: number): void => {
    this.#used += bytes
    if (this.#used <= this.#bytes) return
    this.#lease.hold(this.#used - this.#bytes)
    this.#bytes = this.#used
  }

  /** The reply is complete: releases what it did not use. */
  complete(): void {
    this.#lease.releaseBytes(this.#bytes - this.#used)
    this.#bytes = this.#used
    this.#sizes.record(this.#slug, this.#generation, this.#used)
  }
}

/** A number of JSON with all its digits, between spaces, and what it is converted to. */
const bytesPerNumber = 32
/** Those of the largest common models. */
const defaultDimensions = 3072
/** The properties of an embedding beside its numbers. */
const bytesPerItem = 256
/** Beyond them the oldest are dropped. */
const maxModels = 4096

/** The bytes that the embeddings of models take, by their earlier replies. */
export class ReplySizes {
  /** Bytes per input, by model and format. */
  readonly #sizes = new RecentMap<string, number>(maxModels)

  /** The bytes of the reply to this request. Until the model has replied once, most replies are smaller. */
  estimate(slug: string, generation: Generation): number {
    const { inputs = [], embedding } = generation
    const { dimensions } = embedding ?? {}
    const largest = (dimensions ?? defaultDimensions) * bytesPerNumber + bytesPerItem
    const known = this.#sizes.get(keyOf(slug, generation)) ?? largest
    return inputs.length * (dimensions === undefined ? known : Math.min(known, largest))
  }

  /** Adds a reply, unless its dimensions are not those of the model. */
  record(slug: string, generation: Generation, bytes: number): void {
    const { inputs = [], embedding } = generation
    if (inputs.length === 0 || embedding?.dimensions !== undefined) return
    const key = keyOf(slug, generation)
    const known = this.#sizes.get(key) ?? 0
    this.#sizes.set(key, Math.max(known, Math.ceil(bytes / inputs.length)))
  }
}

function keyOf(slug: string, { embedding }: Generation): string {
  return `${embedding?.format}\n${slug}`
}
