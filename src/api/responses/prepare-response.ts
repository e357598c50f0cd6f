import type { Gateway } from '../../gateway/gateway.ts'
import type { Models } from '../../gateway/models/model.ts'
import { type RequestContext, requestMetadata } from '../../http/request-context.ts'
import { timeSortedId } from '../../lib/id.ts'
import type { RequestMetadata } from '../../domain/accounting/request-metadata.ts'
import type { Responses } from '../../storage/ports/responses.ts'
import { type Conversation, conversationOf } from './conversation.ts'
import { headOf, type ResponseHead } from './request/head.ts'
import { type Prepared, prepare } from './request/prepare-request.ts'
import type { ResponseRequest } from './request/schema.ts'

/** What every request for a response is served with. */
export type ServiceParts = {
  readonly gateway: Gateway
  readonly models: () => Models
  readonly unsupported: 'reject' | 'drop'
  readonly responses: Responses
}

/** A request that a model can be asked, and the response that it will have. */
export type PreparedResponse = {
  readonly prepared: Prepared
  readonly conversation: Conversation
  readonly head: ResponseHead
  readonly facts: RequestMetadata
  /** To be called when the response is on its way to be stored, or will not be: see `Responses.hold`. */
  readonly release: () => void
}

/** Finds the model and the conversation; a request that comes to nothing is entered in the usage, too. */
export async function prepareResponse(
  request: ResponseRequest,
  asker: RequestContext,
  parts: ServiceParts,
): Promise<PreparedResponse> {
  const { gateway, models, unsupported, responses } = parts
  const letGo = holdPrevious(request, responses)
  try {
    const id = timeSortedId('resp_')
    const conversation = await conversationOf(
      request,
      id,
      asker.organization.id,
      responses,
      asker.admission.memory,
    )
    const prepared = prepare(request, conversation, models(), unsupported)
    const { model, warnings } = prepared
    const head = headOf(request, { id, createdAt: Math.floor(Date.now() / 1000), slug: model.slug, warnings })
    const facts = requestMetadata(request, asker, 'responses', model.slug)
    return { prepared, conversation, head, facts, release: letGo }
  } catch (error) {
    letGo()
    const slug = models().find(request.model)?.slug
    asker.admission.enter()
    await gateway.recordRejected(requestMetadata(request, asker, 'responses', slug), error)
    throw error
  }
}

/** What a response follows must not be erased between the moment when it is read and that when the response is stored. */
function holdPrevious({ previous_response_id: previous, store }: ResponseRequest, responses: Responses) {
  return previous == null || store === false ? () => {} : responses.hold(previous)
}
