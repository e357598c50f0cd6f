import { gemini } from '../../src/providers/wires/gemini/wire.ts'
import { holdWireContract } from './contract.ts'

holdWireContract('gemini', gemini({ name: 'gemini', callIds: true, serviceTier: true }))
