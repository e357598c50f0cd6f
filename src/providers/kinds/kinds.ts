import { echo } from '../echo/echo.ts'
import type { Kind } from '../provider.ts'
import { anthropic, vertexAnthropic } from './anthropic.ts'
import { azure } from './azure.ts'
import { geminiKinds } from './gemini.ts'
import { openaiChatKinds } from './openai-chat.ts'

const all: readonly Kind[] = [...openaiChatKinds, ...geminiKinds, anthropic, vertexAnthropic, azure, echo]

/** Every kind of provider, by the name that the settings use. */
export const kinds: Readonly<Record<string, Kind>> = Object.fromEntries(all.map((kind) => [kind.name, kind]))
