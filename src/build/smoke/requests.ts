const sentence = 'The river is measured at the weir.'
const deadline = 10_000

/** A key that nobody was given opens nothing. */
export async function expectNoAnswerWithoutKey(address: string): Promise<void> {
  const reply = await ask(address, 'sk-weir-000000000000-00000000000000000000000000000000', false)
  if (reply.status !== 401)
    throw new Error(`An unknown key got status ${reply.status}: ${await reply.text()}`)
  console.log('unknown key      401')
}

/** The built-in model says what it was told. */
export async function expectAnswer(address: string, key: string): Promise<void> {
  const reply = await expectOk(await ask(address, key, false))
  const content: unknown = JSON.parse(reply)?.choices?.[0]?.message?.content
  if (content !== sentence) throw new Error(`The answer is not the question: ${reply}`)
  console.log('chat completion  answered')
}

/** The same, streamed: the chunks add up to the answer, and the stream says that it is whole. */
export async function expectStream(address: string, key: string): Promise<void> {
  const reply = await expectOk(await ask(address, key, true))
  const frames = reply.split('\n\n').filter((frame) => frame.startsWith('data: '))
  const data = frames.map((frame) => frame.slice('data: '.length))
  if (data.pop() !== '[DONE]') throw new Error(`The stream does not end with [DONE]: ${reply}`)
  const content = data.map((chunk) => JSON.parse(chunk).choices[0]?.delta.content ?? '').join('')
  if (content !== sentence) throw new Error(`The stream does not add up to the question: ${reply}`)
  console.log(`streamed         ${data.length} chunks`)
}

function ask(address: string, key: string, stream: boolean): Promise<Response> {
  return fetch(`${address}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'weir/echo', stream, messages: [{ role: 'user', content: sentence }] }),
    signal: AbortSignal.timeout(deadline),
  })
}

async function expectOk(reply: Response): Promise<string> {
  const body = await reply.text()
  if (reply.status !== 200) throw new Error(`A chat completion got status ${reply.status}: ${body}`)
  return body
}
