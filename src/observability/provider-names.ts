/** How OpenTelemetry calls the kinds of providers for which it has a name of its own. */
const conventional: Readonly<Record<string, string>> = {
  azure: 'azure.ai.openai',
  bedrock: 'aws.bedrock',
  gemini: 'gcp.gemini',
  mistral: 'mistral_ai',
  vertex: 'gcp.vertex_ai',
  'vertex-anthropic': 'gcp.vertex_ai',
  xai: 'x_ai',
}

/** The value of `gen_ai.provider.name` for a kind of provider. */
export function providerName(kind: string): string {
  return conventional[kind] ?? kind
}
