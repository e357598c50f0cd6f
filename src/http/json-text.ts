/** A response with JSON in parts, in one piece. */
export function jsonText(parts: readonly string[]): Response {
  return new Response(parts.join(''), { headers: { 'content-type': 'application/json' } })
}
