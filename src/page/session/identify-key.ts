import { createApiClient } from '../api/client.ts'
import { ApiFailure } from '../api/failure.ts'
import type { Keys } from './keys.ts'

/** Finds out whether a key is that of an organization or of the operator; throws why if it is neither. */
export async function identifyKey(key: string, signal?: AbortSignal): Promise<Keys> {
  const client = createApiClient(key)
  try {
    await client.get('/v1/models', { signal })
    return { apiKey: key }
  } catch (error) {
    if (!(error instanceof ApiFailure) || error.status !== 401) throw error
    await client.get('/admin/providers', { signal }).catch((adminError: unknown) => {
      throw adminError instanceof ApiFailure && adminError.status === 401 ? error : adminError
    })
    return { adminKey: key }
  }
}
