import type { ForeignPart, ImagePart, Part } from '../../../domain/generation/request.ts'
import { type Fields, fieldsOf, textOf } from '../../../lib/json/json.ts'
import type { Body, Warn } from '../protocol.ts'
import { parseDataUrl, warnOfFields } from '../rendering.ts'
import type { Dialect } from './models.ts'

/** Renders the parts, without those that Gemini does not support. */
export function renderParts(parts: readonly Part[], dialect: Dialect, warn: Warn): Body[] {
  return parts.map((part) => renderPart(part, dialect, warn)).filter((part) => part !== undefined)
}

/** Renders only the text parts; others are ignored with a warning. */
export function renderTexts(parts: readonly Part[], dialect: Dialect, warn: Warn): Body[] {
  return renderParts(parts, dialect, warn).filter((part) => {
    if (part.text === undefined)
      warn(
        `Content parts other than text are not supported by ${dialect.name} in system messages and were ignored.`,
      )
    return part.text !== undefined
  })
}

function renderPart(part: Part, dialect: Dialect, warn: Warn): Body | undefined {
  if (part.type === 'foreign') return renderForeign(part, dialect, warn)
  warnOfProperties(part.extras, 'messages[].content[].', dialect, warn)
  if (part.type === 'image') return renderImage(part, dialect, warn)
  // Gemini rejects an empty text.
  return part.text === '' ? undefined : { text: part.text }
}

function renderImage({ url, detail }: ImagePart, dialect: Dialect, warn: Warn): Body {
  if (detail !== undefined && detail !== 'auto')
    warnOfProperties({ detail }, 'messages[].content[].image_url.', dialect, warn)
  return renderMedia(url) ?? { fileData: { fileUri: url } }
}

function renderMedia(url: string): Body | undefined {
  const content = parseDataUrl(url)
  return content && { inlineData: { mimeType: content.mediaType || 'text/plain', data: content.data } }
}

/** Renders inline files and audio, and a refusal as text. */
function renderForeign({ value }: ForeignPart, dialect: Dialect, warn: Warn): Body | undefined {
  const part = renderKnown(value)
  if (!part) warn({ what: 'Content part type', name: value.type, by: dialect.name })
  return part
}

function renderKnown(value: Fields): Body | undefined {
  if (value.type === 'refusal')
    return textOf(value.refusal) === undefined ? undefined : { text: value.refusal }
  if (value.type === 'file') return renderMedia(textOf(fieldsOf(value.file).file_data) ?? '')
  if (value.type !== 'input_audio') return undefined
  const { data, format } = fieldsOf(value.input_audio)
  if (textOf(data) === undefined || textOf(format) === undefined) return undefined
  return { inlineData: { mimeType: `audio/${String(format)}`, data } }
}

/** Warns of the extra properties of a message or a part; `within` is their path. */
export function warnOfProperties(
  fields: Fields | undefined,
  within: string,
  dialect: Dialect,
  warn: Warn,
): void {
  warnOfFields(fields, { what: 'Property', within, by: dialect.name }, warn)
}
