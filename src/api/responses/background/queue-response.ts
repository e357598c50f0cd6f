import { estimatedPrompt, imagesIn } from '../../../gateway/billing/estimate.ts'
import type { RequestContext } from '../../../http/request-context.ts'
import { encodeEvents } from '../events/log.ts'
import { LiveResponse } from '../live/live-response.ts'
import { prepareResponse, type ServiceParts } from '../prepare-response.ts'
import type { ResponseRequest } from '../request/schema.ts'
import { storedHead, storedItems } from '../stored-response.ts'
import { storedOrder } from './run-order.ts'
import type { Runs } from './runs.ts'

/**
 * A response that is made in the background: it is queued, and stored so, when this resolves, and no longer depends on
 * the request that asked for it.
 */
export async function queueResponse(
  request: ResponseRequest,
  asker: RequestContext,
  parts: ServiceParts,
  runs: Runs,
): Promise<LiveResponse> {
  const release = runs.claim(asker.organization.id)
  try {
    return await storeQueued(request, asker, parts, runs)
  } finally {
    release()
  }
}

async function storeQueued(
  request: ResponseRequest,
  asker: RequestContext,
  parts: ServiceParts,
  runs: Runs,
): Promise<LiveResponse> {
  const { prepared, conversation, head, facts, release: letGo } = await prepareResponse(request, asker, parts)
  const { model, generation } = prepared
  const { organization, admission } = asker
  const live = new LiveResponse(organization.id, head)
  live.apply({ type: 'created' })
  const order = { request, facts, promptTokens: estimatedPrompt(generation), images: imagesIn(generation) }
  const row = {
    id: head.id,
    organization: organization.id,
    previousId: head.previous_response_id ?? undefined,
    head: storedHead(head),
    input: storedItems(conversation.input),
    log: encodeEvents(live.events),
    status: 'queued' as const,
    run: storedOrder(order),
  }
  const booking = { facts, billing: organization.billing, admission, model, generation }
  const call = await parts.gateway
    .reserve(booking, [{ kind: 'insert-response', response: row }])
    .finally(letGo)
  runs.add({ live, facts, call })
  return live
}
