import { randomBytes } from 'node:crypto'

/** An id of a completion as one is made at this moment, and as the so-manyth of its millisecond. */
export function completionId(milliseconds: number, count = 0): string {
  const time = milliseconds.toString(16).padStart(12, '0')
  return `chatcmpl-${time}7${count.toString(16).padStart(3, '0')}a${randomBytes(8).toString('hex').slice(1)}`
}
