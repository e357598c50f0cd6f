const prompt = 'The river is measured at the weir.'
const timeoutMs = 10_000

/** Expects an unknown key to get 401. */
export async function expectUnauthorized(address: string): Promise<void> {
  const reply = await requestChat(address, 'sk-weir-000000000000-00000000000000000000000000000000', false)
  if (reply.status !== 401)
    throw new Error(`An unknown key got status ${reply.status}: ${await reply.text()}`)
  console.log('unknown key      401')
}

/** Expects the built-in model to repeat the prompt. */
export async function expectChatCompletion(address: string, key: string): Promise<void> {
  const reply = await expectStatus200(await requestChat(address, key, false))
  const content: unknown = JSON.parse(reply)?.choices?.[0]?.message?.content
  if (content !== prompt) throw new Error(`The completion is not the prompt: ${reply}`)
  console.log('chat completion  ok')
}

/** Expects a stream whose chunks add up to the prompt and that ends with [DONE]. */
export async function expectStream(address: string, key: string): Promise<void> {
  const reply = await expectStatus200(await requestChat(address, key, true))
  const frames = reply.split('\n\n').filter((frame) => frame.startsWith('data: '))
  const data = frames.map((frame) => frame.slice('data: '.length))
  if (data.pop() !== '[DONE]') throw new Error(`The stream does not end with [DONE]: ${reply}`)
  const content = data.map((chunk) => JSON.parse(chunk).choices[0]?.delta.content ?? '').join('')
  if (content !== prompt) throw new Error(`The stream does not add up to the prompt: ${reply}`)
  console.log(`streamed         ${data.length} chunks`)
}

/** Expects the page for browsers, with its files. */
export async function expectPage(address: string): Promise<void> {
  const html = await expectStatus200(await requestFile(`${address}/`))
  const paths = [...html.matchAll(/="(\/page\/[^"]+)"/g)].map(([, path]) => path)
  if (paths.length === 0) throw new Error(`The page has no files: ${html}`)
  let bytes = 0
  for (const path of paths) {
    const reply = await requestFile(`${address}${path}`)
    if (reply.headers.get('content-encoding') !== 'br') throw new Error(`${path} is not compressed.`)
    bytes += (await expectStatus200(reply)).length
  }
  console.log(`page             ${paths.length} files, ${Math.round(bytes / 1000)} kB before compression`)
}

function requestFile(url: string): Promise<Response> {
  const headers = { accept: 'text/html', 'accept-encoding': 'gzip, br' }
  return fetch(url, { headers, signal: AbortSignal.timeout(timeoutMs) })
}

function requestChat(address: string, key: string, stream: boolean): Promise<Response> {
  return fetch(`${address}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'weir/echo', stream, messages: [{ role: 'user', content: prompt }] }),
    signal: AbortSignal.timeout(timeoutMs),
  })
}

async function expectStatus200(reply: Response): Promise<string> {
  const body = await reply.text()
  if (reply.status !== 200) throw new Error(`A request got status ${reply.status}: ${body}`)
  return body
}
