/** USD: what the key may spend. */
export const budget = 1

/** The tokens of each call, and the prices of the model in USD for a million of them. */
export const promptTokens = 100
export const maxTokens = 1000
export const inputPrice = 1
export const outputPrice = 10

/** USD: what a call costs at most, as the provider bills it. */
export const maxCost = (promptTokens * inputPrice + maxTokens * outputPrice) / 1e6

/** The callers, who share the key. */
export const callers = 200

/** A gateway that serves a key with the budget. */
export type BudgetedGateway = AsyncDisposable & {
  readonly name: string
  /** The addresses of its servers, whose path begins with /v1. */
  urls(): readonly string[]
  readonly key: string
  readonly model: string
  /** Kills a server; absent where this process has not started it. */
  kill?(): Promise<void>
  /** What it has recorded, once nothing is open any more; absent where it cannot be asked. */
  books?(): Promise<Books>
}

/** What a gateway has recorded of the key. */
export type Books = {
  /** USD that it counts as spent. */
  readonly spent: number
  /** Contradictions within it, a sentence each. */
  readonly problems: readonly string[]
}

/** The result of one gateway. */
export type Spending = {
  readonly name: string
  readonly killed: boolean
  /** Requests that were completed, and those that were refused or lost with a server. */
  readonly completed: number
  readonly refused: number
  readonly lost: number
  /** USD by the provider's own count, and by the gateway's. */
  readonly billed: number
  readonly spent: number | undefined
  readonly problems: readonly string[]
}
