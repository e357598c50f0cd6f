import { type ApiKey, parseApiKey } from '../domain/accounting/api-key.ts'

/** The organization of a new gateway, and of commands that name none. */
export const defaultOrganization = 'default'

/** Parses the value of WEIR_BOOTSTRAP_KEY; throws an error for the operator if it is not a valid key. */
export function parseBootstrapKey(configured: string): ApiKey {
  const key = parseApiKey(configured)
  if (key === undefined)
    throw new Error(
      'WEIR_BOOTSTRAP_KEY is not a valid API key. The format is sk-weir-ID-SECRET, where ID has 12 letters and digits, ' +
        'and SECRET has 32 to 256.',
    )
  return key
}
