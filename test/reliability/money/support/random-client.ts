import { chatRequest } from '../../../support/scenario.ts'

/** What a client received for a request. */
export type SentRequest = {
  readonly organization: string
  /** Undefined if the client disconnected, or the gateway was killed, before the reply began. */
  readonly id?: string
  readonly status?: number
  /** All of the reply came. */
  readonly whole: boolean
  /** The cost in the reply, in USD. */
  readonly cost?: string | null
}

/** Sends a random request, and may disconnect at any time, but not later than the signal; never throws. */
export async function sendRandomRequest(
  url: string,
  [organization, key]: readonly [name: string, key: string],
  random: () => number,
  latest: AbortSignal,
): Promise<SentRequest> {
  const aborting = new AbortController()
  const leave = () => aborting.abort()
  const timer = random() < 0.2 ? setTimeout(leave, random() ** 3 * 60) : undefined
  latest.addEventListener('abort', leave)
  let received: SentRequest = { organization, whole: false }
  try {
    const reply = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(bodyFrom(random)),
      signal: aborting.signal,
    })
    const { status, headers } = reply
    received = {
      ...received,
      id: headers.get('x-request-id') ?? '',
      status,
      cost: headers.get('x-weir-cost'),
    }
    const text = await reply.text()
    const stream = headers.get('content-type')?.startsWith('text/event-stream')
    return { ...received, whole: stream ? text.endsWith('data: [DONE]\n\n') : true }
  } catch {
    return received
  } finally {
    clearTimeout(timer)
    latest.removeEventListener('abort', leave)
  }
}

function bodyFrom(random: () => number): object {
  const model = random() < 0.03 ? 'acme/sea' : chatRequest.model
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
