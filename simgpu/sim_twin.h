/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The per-thread-default-stream twins do what their originals do: all work is done at once, so
 * which default stream it would wait for makes no difference. Only a capture tells them apart
 * (sim.is_per_thread).
 */
#ifndef SIM_TWIN_H
#define SIM_TWIN_H

#define sim_body_cuLaunchKernel_ptsz                       sim_body_cuLaunchKernel
#define sim_body_cuLaunchKernelEx_ptsz                     sim_body_cuLaunchKernelEx
#define sim_body_cuLaunchCooperativeKernel_ptsz            sim_body_cuLaunchCooperativeKernel
#define sim_body_cuMemPrefetchAsync_ptsz                   sim_body_cuMemPrefetchAsync
#define sim_body_cuMemPrefetchAsync_v2_ptsz                sim_body_cuMemPrefetchAsync_v2
#define sim_body_cuMemAllocAsync_ptsz                      sim_body_cuMemAllocAsync
#define sim_body_cuMemAllocFromPoolAsync_ptsz              sim_body_cuMemAllocFromPoolAsync
#define sim_body_cuMemFreeAsync_ptsz                       sim_body_cuMemFreeAsync
#define sim_body_cuMemMapArrayAsync_ptsz                   sim_body_cuMemMapArrayAsync
#define sim_body_cuMemPrefetchBatchAsync_ptsz              sim_body_cuMemPrefetchBatchAsync
#define sim_body_cuMemDiscardBatchAsync_ptsz               sim_body_cuMemDiscardBatchAsync
#define sim_body_cuMemDiscardAndPrefetchBatchAsync_ptsz    sim_body_cuMemDiscardAndPrefetchBatchAsync
#define sim_body_cuGraphInstantiateWithParams_ptsz         sim_body_cuGraphInstantiateWithParams
#define sim_body_cuGraphUpload_ptsz                        sim_body_cuGraphUpload
#define sim_body_cuGraphLaunch_ptsz                        sim_body_cuGraphLaunch
#define sim_body_cuStreamSynchronize_ptsz                  sim_body_cuStreamSynchronize
#define sim_body_cuMemcpy_ptds                             sim_body_cuMemcpy
#define sim_body_cuMemcpyAsync_ptsz                        sim_body_cuMemcpyAsync
#define sim_body_cuMemcpyHtoD_v2_ptds                      sim_body_cuMemcpyHtoD_v2
#define sim_body_cuMemcpyDtoH_v2_ptds                      sim_body_cuMemcpyDtoH_v2
#define sim_body_cuMemcpyDtoD_v2_ptds                      sim_body_cuMemcpyDtoD_v2
#define sim_body_cuMemcpyHtoDAsync_v2_ptsz                 sim_body_cuMemcpyHtoDAsync_v2
#define sim_body_cuMemcpyDtoHAsync_v2_ptsz                 sim_body_cuMemcpyDtoHAsync_v2
#define sim_body_cuMemcpyDtoDAsync_v2_ptsz                 sim_body_cuMemcpyDtoDAsync_v2
#define sim_body_cuMemcpy2D_v2_ptds                        sim_body_cuMemcpy2D_v2
#define sim_body_cuMemcpy2DAsync_v2_ptsz                   sim_body_cuMemcpy2DAsync_v2
#define sim_body_cuMemsetD8_v2_ptds                        sim_body_cuMemsetD8_v2
#define sim_body_cuMemsetD16_v2_ptds                       sim_body_cuMemsetD16_v2
#define sim_body_cuMemsetD32_v2_ptds                       sim_body_cuMemsetD32_v2
#define sim_body_cuMemsetD8Async_ptsz                      sim_body_cuMemsetD8Async
#define sim_body_cuMemsetD16Async_ptsz                     sim_body_cuMemsetD16Async
#define sim_body_cuMemsetD32Async_ptsz                     sim_body_cuMemsetD32Async
#define sim_body_cuStreamQuery_ptsz                        sim_body_cuStreamQuery
#define sim_body_cuStreamWaitEvent_ptsz                    sim_body_cuStreamWaitEvent
#define sim_body_cuStreamGetCtx_ptsz                       sim_body_cuStreamGetCtx
#define sim_body_cuStreamGetFlags_ptsz                     sim_body_cuStreamGetFlags
#define sim_body_cuStreamGetPriority_ptsz                  sim_body_cuStreamGetPriority
#define sim_body_cuStreamGetId_ptsz                        sim_body_cuStreamGetId
#define sim_body_cuStreamAddCallback_ptsz                  sim_body_cuStreamAddCallback
#define sim_body_cuLaunchHostFunc_ptsz                     sim_body_cuLaunchHostFunc
#define sim_body_cuStreamBeginCapture_ptsz                 sim_body_cuStreamBeginCapture
#define sim_body_cuStreamBeginCapture_v2_ptsz              sim_body_cuStreamBeginCapture_v2
#define sim_body_cuStreamBeginCaptureToGraph_ptsz          sim_body_cuStreamBeginCaptureToGraph
#define sim_body_cuStreamEndCapture_ptsz                   sim_body_cuStreamEndCapture
#define sim_body_cuStreamIsCapturing_ptsz                  sim_body_cuStreamIsCapturing
#define sim_body_cuEventRecord_ptsz                        sim_body_cuEventRecord
#define sim_body_cuEventRecordWithFlags_ptsz               sim_body_cuEventRecordWithFlags
#define sim_body_cuStreamGetCaptureInfo_ptsz               sim_body_cuStreamGetCaptureInfo
#define sim_body_cuStreamGetCaptureInfo_v2_ptsz            sim_body_cuStreamGetCaptureInfo_v2
#define sim_body_cuStreamGetCaptureInfo_v3_ptsz            sim_body_cuStreamGetCaptureInfo_v3
#define sim_body_cuStreamUpdateCaptureDependencies_ptsz    sim_body_cuStreamUpdateCaptureDependencies
#define sim_body_cuStreamUpdateCaptureDependencies_v2_ptsz sim_body_cuStreamUpdateCaptureDependencies_v2
#define sim_body_cuMemcpy3D_v2_ptds                        sim_body_cuMemcpy3D_v2
#define sim_body_cuMemcpy3DAsync_v2_ptsz                   sim_body_cuMemcpy3DAsync_v2
#define sim_body_cuStreamWriteValue32_ptsz                 sim_body_cuStreamWriteValue32
#define sim_body_cuStreamWriteValue32_v2_ptsz              sim_body_cuStreamWriteValue32_v2
#define sim_body_cuStreamWriteValue64_ptsz                 sim_body_cuStreamWriteValue64
#define sim_body_cuStreamWriteValue64_v2_ptsz              sim_body_cuStreamWriteValue64_v2
#define sim_body_cuStreamWaitValue32_ptsz                  sim_body_cuStreamWaitValue32
#define sim_body_cuStreamWaitValue32_v2_ptsz               sim_body_cuStreamWaitValue32_v2
#define sim_body_cuStreamWaitValue64_ptsz                  sim_body_cuStreamWaitValue64
#define sim_body_cuStreamWaitValue64_v2_ptsz               sim_body_cuStreamWaitValue64_v2
#define sim_body_cuStreamBatchMemOp_ptsz                   sim_body_cuStreamBatchMemOp
#define sim_body_cuStreamBatchMemOp_v2_ptsz                sim_body_cuStreamBatchMemOp_v2
#define sim_body_cuMemcpyBatchAsync_ptsz                   sim_body_cuMemcpyBatchAsync
#define sim_body_cuMemcpyBatchAsync_v2_ptsz                sim_body_cuMemcpyBatchAsync_v2
#define sim_body_cuMemcpy3DBatchAsync_ptsz                 sim_body_cuMemcpy3DBatchAsync
#define sim_body_cuMemcpy3DBatchAsync_v2_ptsz              sim_body_cuMemcpy3DBatchAsync_v2
#define sim_body_cuStreamGetDevice_ptsz                    sim_body_cuStreamGetDevice
#define sim_body_cuStreamGetCtx_v2_ptsz                    sim_body_cuStreamGetCtx_v2
#define sim_body_cuStreamGetAttribute_ptsz                 sim_body_cuStreamGetAttribute
#define sim_body_cuStreamSetAttribute_ptsz                 sim_body_cuStreamSetAttribute
#define sim_body_cuStreamCopyAttributes_ptsz               sim_body_cuStreamCopyAttributes

#endif
