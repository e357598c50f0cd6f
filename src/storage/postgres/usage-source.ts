import type { UsageSource } from '../usage/reports.ts'
import { addArrays } from './add-arrays.ts'
import type { Database } from './connection/database.ts'
import { sampleStatement } from './sample-statement.ts'
import { type SliceRow, toSlice } from './slice-rows.ts'
import { slicesStatement } from './slices-statement.ts'

/** The usage in the PostgreSQL database. */
export function createUsageSource({ readPages }: Pick<Database, 'readPages'>): UsageSource {
  return {
    addTimes: addArrays,
    async readSlices(reading, onSlices, { step, timeoutMs, timeoutError }) {
      await readPages<SliceRow>(slicesStatement(reading), timeoutMs, timeoutError, async (rows) => {
        for (let index = 0; index < rows.length; index += stepSlices)
          await step(() => onSlices(rows.slice(index, index + stepSlices).map(toSlice)))
      })
    },
    async hasMoreGroups(reading, groupBy, limit, { timeoutMs, timeoutError }) {
      const statement = sampleStatement(reading, groupBy, limit)
      if (statement === undefined) return false
      let isMore = false
      await readPages<{ readonly groups: number }>(statement, timeoutMs, timeoutError, async ([found]) => {
        isMore = found !== undefined && found.groups > limit
      })
      return isMore
    },
  }
}

/** The slices that are added in one turn of the event loop. */
const stepSlices = 500
