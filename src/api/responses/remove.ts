import { badRequest } from '../../lib/errors/errors.ts'
import type { DeletedResponse } from './render/reply-schema.ts'
import { responseNotFound, type ResponseStores } from './find-response.ts'

/** Deletes a response that is over: nobody sees it from then on. */
export async function removeResponse(
  organization: string,
  id: string,
  shelves: ResponseStores,
): Promise<DeletedResponse> {
  if (shelves.live.find(organization, id)) throw inFlight()
  const removal = await shelves.responses.remove(organization, id)
  if (removal === 'missing') throw responseNotFound(id)
  if (removal === 'running') throw inFlight()
  return { id, object: 'response.deleted', deleted: true }
}

/** Not 409: clients repeat that by themselves. */
function inFlight(): Error {
  return badRequest('Cannot delete an in-flight response. Cancel it first, or wait for its end.', null, null)
}
