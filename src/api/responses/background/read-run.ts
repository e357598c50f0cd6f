import { badRequest } from '../../../lib/errors/errors.ts'
import type { Hold } from '../../../lib/memory-budget.ts'
import type { Responses } from '../../../storage/ports/responses.ts'
import { type Conversation, itemsOfChain } from '../conversation.ts'
import type { Item } from '../request/items.ts'
import { orderIn } from './run-order.ts'
import type { ResponseRequest } from '../request/schema.ts'

/** What a stored run asks: its request, and the conversation that it goes on with, whose bytes `hold` is asked for. */
export async function readRun(
  organization: string,
  id: string,
  responses: Responses,
  hold: Hold,
): Promise<{ readonly request: ResponseRequest; readonly conversation: Conversation }> {
  const order = await responses.findRun(organization, id)
  const chain = await responses.runContext(organization, id, hold)
  const own = chain?.at(-1)
  if (order === undefined || chain === undefined || own === undefined) throw gone()
  const context = await itemsOfChain(chain.slice(0, -1))
  // Stored as they were when they passed for items.
  return {
    request: orderIn(order).request,
    conversation: { context, input: own.input as readonly Item[] },
  }
}

/** The organization was deleted at this moment, or an earlier response of the conversation just before this one. */
function gone(): Error {
  return badRequest(
    'What this run goes on with was deleted.',
    'previous_response_not_found',
    'previous_response_id',
  )
}
