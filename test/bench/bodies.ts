const sentence = 'The gauge at the old mill shows how much water passes the weir in an hour. '

/** A question of about 200 bytes. */
export function smallBody(model: string, more: object = {}): string {
  const content =
    'How high is the river at the old mill today, and how much has it risen since the rain began?'
  return JSON.stringify({ model, ...more, messages: [{ role: 'user', content }] })
}

/** A conversation of 20 messages, 6 kB. */
export function mediumBody(model: string): string {
  const messages = Array.from({ length: 20 }, (_, index) => ({
    role: roleAt(index),
    content: `${index}. ${sentence.repeat(3)}`,
  }))
  return JSON.stringify({ model, temperature: 0.7, max_tokens: 400, messages })
}

function roleAt(index: number): string {
  if (index === 0) return 'system'
  return index % 2 === 1 ? 'user' : 'assistant'
}

/** A question with four images in it, 1 MB. */
export function largeBody(model: string): string {
  const image = (seed: number) => {
    const bytes = Uint8Array.from({ length: 192 * 1024 }, (_, index) => (index * 31 + seed) & 255)
    return { type: 'image_url', image_url: { url: `data:image/png;base64,${bytes.toBase64()}` } }
  }
  const content = [{ type: 'text', text: sentence }, ...[1, 2, 3, 4].map(image)]
  return JSON.stringify({ model, messages: [{ role: 'user', content }] })
}

/** A tool, and a prompt that requires it. */
export function toolsBody(model: string): string {
  const parameters = { type: 'object', properties: { places: { type: 'array', items: { type: 'string' } } } }
  const tools = [{ type: 'function', function: { name: 'measure', description: sentence, parameters } }]
  return smallBody(model, { stream: true, tools })
}

/** The same question for the Responses interface. */
export function responsesBody(model: string, more: object): string {
  return JSON.stringify({ model, ...more, input: `${sentence}How high is the river today?` })
}
