import { TransientMap } from '../../../lib/transient.ts'
import type { LiveResponse } from './live-response.ts'

/** The responses in progress that are stored or queued, by which other requests find them. */
export type LiveResponses = {
  /** Undefined for an id without a live response, and for one of another organization. */
  find(organization: string, id: string): LiveResponse | undefined
  add(response: LiveResponse): void
  /** Removes a response that has ended: from then on it is found in the database. */
  remove(response: LiveResponse): void
}

/** A registry without responses. */
export function createLiveResponses(): LiveResponses {
  const responses = new TransientMap<LiveResponse>()
  return {
    find(organization, id) {
      const found = responses.get(id)
      return found?.organization === organization ? found : undefined
    },
    add: (response) => responses.set(response.id, response),
    remove(response) {
      // The entry may be a later one of the same response.
      if (responses.get(response.id) === response) responses.delete(response.id)
    },
  }
}
