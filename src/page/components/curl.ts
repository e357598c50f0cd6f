/** The command that sends a JSON body to this gateway. The shell keeps the key. */
export function curlCommand(path: string, body: object): string {
  return [
    `curl ${location.origin}${path} \\`,
    '  -H "Authorization: Bearer $WEIR_API_KEY" \\',
    "  -H 'Content-Type: application/json' \\",
    `  -d '${JSON.stringify(body)}'`,
  ].join('\n')
}
