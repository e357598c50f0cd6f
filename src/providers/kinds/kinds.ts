import type { Kind, RemoteKind } from '../provider.ts'
import { anthropic, vertexAnthropic } from './anthropic.ts'
import { azure } from './azure.ts'
import { echo } from './echo.ts'
import { geminiKinds } from './gemini.ts'
import { openaiChatKinds } from './openai-chat.ts'

const all: readonly Kind[] = [...openaiChatKinds, ...geminiKinds, anthropic, vertexAnthropic, azure, echo]

/** Every kind of provider, by the name that the settings use. */
export const kinds: Readonly<Record<string, Kind>> = Object.fromEntries(all.map((kind) => [kind.name, kind]))

/** The value of `gen_ai.provider.name` for a kind of provider: OpenTelemetry's name, or else the kind's own. */
export function telemetryNameOf(kind: string): string {
  return remoteKind(kind)?.telemetryName ?? kind
}

/** Returns the kind of this name, if its providers are called over the network. */
export function remoteKind(name: string): RemoteKind | undefined {
  const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined
  return kind && 'protocol' in kind ? kind : undefined
}
