import type { Part } from '../../../domain/generation/request.ts'
import { rejectFileId } from '../../../http/inputs.ts'
import { type Fields, fieldsOf, isObject, listOf, textOf } from '../../../lib/json/json.ts'
import type { Warn } from './lower-extras.ts'

/** Lowers the content of a message, or the output of a call, to parts. */
export function lowerContent(content: unknown, path: string, warn: Warn): readonly Part[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return listOf(content).flatMap((part, index) => {
    return isTyped(part) ? lowerPart(part, `${path}[${index}]`, warn) : []
  })
}

type TypedPart = Fields & { readonly type: string }

function isTyped(part: unknown): part is TypedPart {
  return isObject(part) && typeof part.type === 'string'
}

function lowerPart(part: TypedPart, path: string, warn: Warn): readonly Part[] {
  rejectFileId(part, path)
  switch (part.type) {
    case 'input_text':
    case 'text':
    case 'output_text':
      return lowerText(part, part.text)
    case 'refusal':
      return lowerText(part, part.refusal)
    case 'input_image':
    case 'image_url':
      return lowerImage(part, warn)
    case 'input_file':
      return [{ type: 'foreign', value: toChatFile(part) }]
    default:
      return [{ type: 'foreign', value: part }]
  }
}

/** Drops the annotations: they come from a model, and no model accepts them. */
function lowerText({ cache_control }: Fields, text: unknown): readonly Part[] {
  if (typeof text !== 'string') return []
  return [{ type: 'text', text, extras: cache_control == null ? undefined : { cache_control } }]
}

function lowerImage({ image_url, detail, cache_control }: Fields, warn: Warn): readonly Part[] {
  const url = textOf(image_url) ?? textOf(fieldsOf(image_url).url)
  if (url === undefined) {
    warn('Images without `image_url` are not supported and were ignored.')
    return []
  }
  const extras = cache_control == null ? undefined : { cache_control }
  return [{ type: 'image', url, detail: textOf(detail), extras }]
}

/** Converts a file to its form in chat completions, in which providers receive it. */
function toChatFile({ file_data, file_url, filename, cache_control }: Fields): TypedPart {
  const present = Object.entries({ file_data: file_data ?? file_url, filename }).filter(
    ([, value]) => value != null,
  )
  const cacheControl = cache_control == null ? {} : { cache_control }
  return { type: 'file', file: Object.fromEntries(present), ...cacheControl }
}
