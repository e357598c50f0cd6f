import type { BudgetedGateway } from './spending.ts'

/** Where the provider of a gateway listens that this process does not start. */
export const providerPort = Number(process.env.OVERSPEND_PROVIDER_PORT ?? 4099)

/**
 * A gateway that is running, with a key whose budget is a dollar: OVERSPEND_URL (several separated by commas, without /v1),
 * OVERSPEND_KEY, OVERSPEND_MODEL and OVERSPEND_NAME. Its model has the address of the provider below, its prices are 1 USD
 * for a million tokens of input and 10 for output. Undefined without OVERSPEND_URL.
 */
export function runningGateway(): BudgetedGateway | undefined {
  const { OVERSPEND_URL, OVERSPEND_KEY = '', OVERSPEND_MODEL = '', OVERSPEND_NAME = 'other' } = process.env
  if (!OVERSPEND_URL) return undefined
  return {
    name: OVERSPEND_NAME,
    key: OVERSPEND_KEY,
    model: OVERSPEND_MODEL,
    urls: () => OVERSPEND_URL.split(','),
    async [Symbol.asyncDispose]() {},
  }
}
