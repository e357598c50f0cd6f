import { readFacts } from '../../../domain/accounting/request-metadata.ts'
import { fieldsOf, isObject, type JsonObject, parseJson } from '../../../lib/json/json.ts'
import type { UnfinishedRun } from '../../../storage/ports/responses.ts'
import { decodeEvents } from '../events/log.ts'
import { LiveResponse } from '../live/live-response.ts'
import { headIn } from '../stored-response.ts'
import { orderIn, type RunOrder } from './run-order.ts'

/** A run as an earlier process has left it. */
export type StoredRun = {
  readonly row: UnfinishedRun
  readonly live: LiveResponse
  readonly order: RunOrder
}

/** One of which a part cannot be read. */
export type DamagedRun = { readonly row: UnfinishedRun; readonly live: undefined; readonly order?: RunOrder }

/** Reads what is stored of a run. */
export function toStoredRun(row: UnfinishedRun): StoredRun | DamagedRun {
  const [live, order] = [liveIn(row), orderOf(row)]
  return live && order ? { row, live, order } : { row, live: undefined, order }
}

function liveIn({ id, organization, head: json, log }: UnfinishedRun): LiveResponse | undefined {
  const head = parseJson(json)
  if (!isObject(head) || head.id !== id) return undefined
  try {
    const live = new LiveResponse(organization, headIn(head as JsonObject))
    for (const event of decodeEvents(log)) live.apply(event)
    return live
  } catch {
    return undefined
  }
}

function orderOf({ organization, run: json }: UnfinishedRun): RunOrder | undefined {
  const { request, facts, promptTokens, images } = fieldsOf(parseJson(json))
  const readable =
    typeof fieldsOf(request).model === 'string' && Number.isFinite(promptTokens) && Number.isFinite(images)
  if (!readable || readFacts(JSON.stringify(facts), organization) === undefined) return undefined
  return orderIn(JSON.parse(json) as JsonObject)
}
