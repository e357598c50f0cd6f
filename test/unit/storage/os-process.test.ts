import { describe, expect, test } from 'bun:test'
import { hasEnded, ownOsProcess } from '../../../src/storage/postgres/cluster/os-process.ts'
import { startOsProcess } from './support/os-processes.ts'

describe.if(process.platform === 'linux')('on Linux, a process', () => {
  test('has the same identity each time, and has not ended', () => {
    const own = ownOsProcess() ?? ''
    expect(own).toStartWith(`${process.pid} `)
    expect(ownOsProcess()).toBe(own)
    expect(hasEnded(own)).toBe(false)
  })

  test('of the same machine has ended when it was killed, and not before', async () => {
    await using other = await startOsProcess()
    expect(other.osProcess).not.toBe(ownOsProcess())
    expect(hasEnded(other.osProcess)).toBe(false)
    await other.kill()
    expect(hasEnded(other.osProcess)).toBe(true)
  })

  test('has ended if another process has its id, as in a container that was started again', () => {
    expect(hasEnded(changed(1, '1'))).toBe(true)
  })

  test.each([
    ['the boot', 2, '00000000-0000-0000-0000-000000000000'],
    ['the namespace of the process ids', 3, 'pid:[1]'],
    ['the namespace of the clocks', 4, 'time:[1]'],
    ['the host name', 5, 'elsewhere'],
  ])('is not judged if %s is another one', (_, position, value) => {
    const gone = changed(1, '1')
    expect(hasEnded(changed(position, value, gone))).toBe(false)
  })

  test.each([
    ['is empty', ''],
    ['has no numbers', 'nonsense'],
    ['has no machine', '1 1 '],
    ['has a process id that stands for all processes', changed(0, '-1')],
    ['has a process id that stands for the own group', changed(0, '0')],
    ['has no process id', changed(0, '')],
  ])('is not judged if its identity %s', (_, identity) => {
    expect(hasEnded(identity)).toBe(false)
  })

  test('has ended if its process id is not in use', () => {
    expect(hasEnded(changed(0, '2147483647'))).toBe(true)
  })
})

/** An identity, by default that of this process, in which one of the parts is another one. */
function changed(position: number, value: string, identity = ownOsProcess() ?? ''): string {
  return identity.split(' ').with(position, value).join(' ')
}
