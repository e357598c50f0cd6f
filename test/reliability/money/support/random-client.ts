import { question } from '../../../support/scenario.ts'

/** What a client was told of a request. */
export type Told = {
  readonly organization: string
  /** Undefined where it left, or the gateway died, before the reply began. */
  readonly id?: string
  readonly status?: number
  /** All of the reply came. */
  readonly whole: boolean
  /** As the reply told it, in USD. */
  readonly cost?: string | null
}

/** Asks at random, and may leave at any moment; never throws. */
export async function askAtRandom(
  url: string,
  [organization, key]: readonly [name: string, key: string],
  random: () => number,
): Promise<Told> {
  const leaving = new AbortController()
  // Each leaves in the end: some providers never answer.
  const patience = random() < 0.2 ? random() ** 3 * 60 : 700
  const timer = setTimeout(() => leaving.abort(), patience)
  let told: Told = { organization, whole: false }
  try {
    const reply = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(bodyFrom(random)),
      signal: leaving.signal,
    })
    const { status, headers } = reply
    told = { ...told, id: headers.get('x-request-id') ?? '', status, cost: headers.get('x-weir-cost') }
    const text = await reply.text()
    const stream = headers.get('content-type')?.startsWith('text/event-stream')
    return { ...told, whole: stream ? text.endsWith('data: [DONE]\n\n') : true }
  } catch {
    return told
  } finally {
    clearTimeout(timer)
  }
}

function bodyFrom(random: () => number): object {
  const model = random() < 0.03 ? 'acme/sea' : question.model
  const content = 'x'.repeat(random() * 200)
  return {
    model,
    messages: [{ role: 'user', content }],
    stream: random() < 0.5,
    ...(random() < 0.5 && { max_tokens: 1 + Math.floor(random() * 50) }),
    ...(random() < 0.1 && { n: 2 }),
    ...(random() < 0.1 && { tags: ['random'] }),
  }
}
