import type { RequestMetadata } from '../../domain/accounting/request-metadata.ts'
import { type BodyTurn, type LargeBodies, minLargeBody } from '../../gateway/rate-limits/large-bodies.ts'
import { allowedModels } from '../../gateway/models/allowed-models.ts'
import { type RequestContext, requestMetadata } from '../../http/request-context.ts'
import { timeSortedId } from '../../lib/id.ts'
import type { MemoryLease } from '../../lib/memory-budget.ts'
import { monotonicNow } from '../../lib/time.ts'
import type { Responses } from '../../storage/ports/responses.ts'
import { type GenerationDependencies, recordUnprepared } from '../generate.ts'
import { type ConversationMemory, loadConversation } from './conversation.ts'
import { namesOfAdditionalTools } from './request/additional-tools.ts'
import { headOf, type ResponseHead } from './request/head.ts'
import type { PreparedGeneration } from '../../gateway/models/prepare-generation.ts'
import type { Conversation } from './request/items.ts'
import { prepareRequest } from './request/lower.ts'
import type { ResponseRequest } from './request/schema.ts'
import type { ToolOptions } from './request/tools.ts'

/** The dependencies of the creation of every response. */
export type ServiceDependencies = ToolOptions &
  GenerationDependencies & {
    readonly responses: Responses
    readonly largeBodies: LargeBodies
  }

/** A request that can be sent to a model, and the head of its response. */
export type PreparedResponse = {
  readonly prepared: PreparedGeneration
  readonly conversation: Conversation
  readonly head: ResponseHead
  readonly metadata: RequestMetadata
  /** Releases the previous response, once the write of this one is queued or will not happen. See `Responses.hold`. */
  readonly release: () => void
}

/** Finds the model and loads the conversation. Records the request in the usage if it is rejected. */
export async function prepareResponse(
  request: ResponseRequest,
  context: RequestContext,
  parts: ServiceDependencies,
): Promise<PreparedResponse> {
  const { models, responses } = parts
  const { organization, limits } = context
  const received = { api: 'responses', labels: request, context } as const
  const release = holdPrevious(request, responses)
  const turn = new ConversationTurn(context, parts.largeBodies)
  try {
    const id = timeSortedId('resp_')
    const conversation = await loadConversation(request, id, organization.id, responses, turn)
    const prepared = prepareRequest(request, conversation, allowedModels(models(), limits.models), parts)
    const { model, warnings } = prepared
    const createdAt = Math.floor(Date.now() / 1000)
    const additionalTools = namesOfAdditionalTools(conversation)
    const head = headOf(request, { id, createdAt, slug: model.slug, warnings, additionalTools })
    const metadata = requestMetadata(received, model.slug, parts.gateway)
    return { prepared, conversation, head, metadata, release }
  } catch (error) {
    release()
    await recordUnprepared(error, received, parts)
    throw error
  } finally {
    turn.end()
  }
}

/** The turn of a conversation that is as large as a large body: a small request may continue it. */
class ConversationTurn implements ConversationMemory {
  readonly memory: MemoryLease
  readonly #enter: () => Promise<BodyTurn>
  #turn: BodyTurn | undefined
  #enteredAt = 0

  constructor({ organization, admission, signal }: RequestContext, largeBodies: LargeBodies) {
    this.memory = admission.memory
    this.#enter = () => largeBodies.enter(organization, signal)
  }

  /** Acquires the bytes of stored responses, of an unknown number where it is 0. */
  readonly acquire = async (bytes: number): Promise<void> => {
    this.memory.acquire(bytes)
    if (this.#turn !== undefined || (bytes > 0 && bytes < minLargeBody)) return
    this.#turn = await this.#enter()
    this.#enteredAt = monotonicNow()
  }

  end(): void {
    this.#turn?.end(monotonicNow() - this.#enteredAt)
  }
}

/** Keeps the previous response from being erased between its read and the write of the response that follows it. */
function holdPrevious({ previous_response_id: previous, store }: ResponseRequest, responses: Responses) {
  return previous == null || store === false ? () => {} : responses.pin(previous)
}
