import type { Json } from '../../lib/json/json.ts'
import type { FoundState, FoundStates, ProviderStateQuery } from '../ports/provider-state.ts'

/** A row of a query for provider states; null for a state that did not fit into its bytes. */
export type StateRow = {
  readonly callId: string
  readonly provider: string | null
  readonly value: string | null
}

/** The states in these rows. Omits a damaged value: a conversation can continue without it. */
export async function foundStates(
  rows: readonly StateRow[],
  { acquireMemory }: Pick<ProviderStateQuery, 'acquireMemory'>,
): Promise<FoundStates> {
  const states = new Map<string, FoundState>()
  let truncated = false
  for (const { callId, provider, value } of rows) {
    if (provider === null || value === null) {
      truncated = true
      continue
    }
    await acquireMemory(value.length)
    const parsed = parseState(value)
    if (parsed !== undefined) states.set(callId, { provider, value: parsed })
  }
  return { states, truncated }
}

function parseState(value: string): Json | undefined {
  try {
    return JSON.parse(value) as Json
  } catch {
    return undefined
  }
}
