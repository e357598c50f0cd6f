import { badRequest, serviceUnavailable } from '../../lib/errors/errors.ts'

/** The most groups of one report by period. */
export const maxGroups = 10_000
/** How many reports by period may be read or wait at once. */
export const maxReports = 64
/** How long one of them may take, in milliseconds. */
export const maxReportMs = 10_000

/** The 400 for a report with more than `maxGroups`. */
export function tooManyGroups(): Error {
  return badRequest(
    `The report would have more than ${maxGroups.toLocaleString('en-US')} results. Request fewer buckets, add a filter, or group by fewer properties.`,
    'invalid_value',
    'group_by',
  )
}

/** The 503 for more than `maxReports` at once. */
export function tooManyReports(): Error {
  return serviceUnavailable('Too many usage reports are being read. Try again later.')
}

/** The 503 for a report that takes longer than `maxReportMs`. */
export function reportTooLong(): Error {
  return serviceUnavailable(
    'The usage report has too many requests to be read in time. Request a shorter period, or group by fewer properties.',
  )
}
