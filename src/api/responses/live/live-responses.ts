import type { LiveResponse } from './live-response.ts'

/** The responses that are being made, and can be seen by others than those who asked for them. */
export type LiveResponses = {
  /** Undefined where there is none, or it is another organization's. */
  find(organization: string, id: string): LiveResponse | undefined
  add(response: LiveResponse): void
  /** For one that is over: from now on it is found where it is stored. */
  remove(response: LiveResponse): void
}

export function createLiveResponses(): LiveResponses {
  const responses = new Map<string, LiveResponse>()
  return {
    find(organization, id) {
      const found = responses.get(id)
      return found?.organization === organization ? found : undefined
    },
    add: (response) => void responses.set(response.id, response),
    remove: (response) => void responses.delete(response.id),
  }
}
