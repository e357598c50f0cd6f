import type { AddTimes } from '../usage/times.ts'

/**
 * Adds the times of a slice, which has by turns an array of times and one of their numbers of requests; without a number, a
 * time counts once. Most arrays are so short that parsing each of them would take longer than all else of a report.
 */
export const addArrays: AddTimes = (to, stored) => {
  for (let at = 1; at < stored.length;) {
    const end = stored.indexOf('}', at)
    const next = stored.indexOf('}', end + 1) + 2
    for (let countAt = end + 2; at < end; at++, countAt++) {
      let time = 0
      for (; isDigit(stored, at); at++) time = time * 10 + digitAt(stored, at)
      let count = 0
      for (; countAt < next && isDigit(stored, countAt); countAt++)
        count = count * 10 + digitAt(stored, countAt)
      to.add(time, count || 1)
    }
    at = next
  }
}

/** Whether the character at an index is a digit; false behind the end. */
export function isDigit(text: string, index: number): boolean {
  const digit = digitAt(text, index)
  return digit >= 0 && digit <= 9
}

/** The value of the digit at an index. */
export function digitAt(text: string, index: number): number {
  return text.charCodeAt(index) - zero
}

const zero = 48
