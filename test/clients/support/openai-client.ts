import OpenAI from 'openai'
import type { App } from '../../support/app.ts'
import { startScenario } from '../../support/scenario.ts'

export type ClientOptions = { readonly key?: string; readonly retries?: number }

/** An OpenAI client for the app, with default options, except that it does not retry unless configured to. */
export function openaiClient(app: App, options: ClientOptions = {}): OpenAI {
  return countingOpenaiClient(app, options).openai
}

/** The same, and how many requests it has sent. */
export function countingOpenaiClient(app: App, { key = app.key, retries = 0 }: ClientOptions = {}) {
  let sent = 0
  const openai = new OpenAI({
    baseURL: `${app.url}/v1`,
    apiKey: key,
    maxRetries: retries,
    fetch: (url, init) => {
      sent++
      return fetch(url, init)
    },
  })
  return { openai, sent: () => sent }
}

/** A gateway with a scripted provider behind it and the stock client in front of it. */
export async function startOpenaiScenario(...args: Parameters<typeof startScenario>) {
  const scenario = await startScenario(...args)
  return { ...scenario, openai: openaiClient(scenario.app) }
}

/** The messages of these tests, mutable as the parameters require. */
export const openaiRequest = {
  model: 'acme/river',
  messages: [{ role: 'user' as const, content: 'How high is it?' }],
}
