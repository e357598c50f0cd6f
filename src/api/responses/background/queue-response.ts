import { estimatePromptTokens, countImages } from '../../../gateway/billing/estimate.ts'
import type { RequestContext } from '../../../http/request-context.ts'
import type { NewResponse } from '../../../storage/ports/responses.ts'
import { encodeEvents } from '../events/event-log.ts'
import { LiveResponse } from '../live/live-response.ts'
import { prepareResponse, type ServiceDependencies } from '../prepare-response.ts'
import type { Conversation } from '../request/items.ts'
import type { ResponseRequest } from '../request/schema.ts'
import { storedHead, storedItems } from '../stored-response.ts'
import type { Run } from './run.ts'
import type { Runs } from './runs.ts'
import { type StoredRequest, toStoredJson } from './stored-run.ts'

/** Queues a background run; resolves when it is stored, and no longer depends on the connection of the client. */
export async function queueResponse(
  request: ResponseRequest,
  context: RequestContext,
  parts: ServiceDependencies,
  runs: Runs,
): Promise<LiveResponse> {
  const claim = await runs.claimSlot(context.organization)
  try {
    const run = await storeQueued(request, context, parts, runs)
    runs.add({ ...run, leaveQueue: claim.keep() })
    return run.live
  } finally {
    claim.release()
  }
}

async function storeQueued(
  request: ResponseRequest,
  context: RequestContext,
  parts: ServiceDependencies,
  runs: Runs,
): Promise<Run> {
  const {
    prepared,
    conversation,
    head,
    metadata,
    release: releasePrevious,
  } = await prepareResponse(request, context, parts)
  const { model, generation } = prepared
  const { organization, limits, admission, record } = context
  const live = new LiveResponse(organization.id, head)
  live.apply({ type: 'created' })
  const stored = {
    request,
    facts: metadata,
    promptTokens: estimatePromptTokens(generation),
    images: countImages(generation),
    prices: { pricing: model.pricing, fast: model.fast },
  }
  const row = queuedRow(live, conversation, stored, runs)
  const payer = { billing: organization.billing, budgets: limits.budgets }
  const reservation = { metadata, observer: record, ...payer, admission, model, generation }
  const call = await parts.gateway
    .reserve(reservation, [{ kind: 'insert-response', response: row }])
    .finally(releasePrevious)
  live.markStored()
  return { live, metadata, slot: call }
}

function queuedRow(
  live: LiveResponse,
  conversation: Conversation,
  stored: StoredRequest,
  runs: Runs,
): NewResponse {
  const { head } = live
  return {
    id: head.id,
    organization: live.organization,
    previousId: head.previous_response_id ?? undefined,
    head: storedHead(head),
    input: storedItems(conversation.input),
    log: encodeEvents(live.events),
    status: 'queued',
    run: toStoredJson(stored),
    owner: runs.ownerOf(stored.facts),
  }
}
